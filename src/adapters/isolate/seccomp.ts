/**
 * A filter of system calls for the processes of a box, in the form of the kernel: a program of the classic Berkeley packet filter. It allows a box one
 * process (with threads, but no further processes), no socket, and none of the system calls that reach the kernel without a file.
 */

interface Numbers {
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  /** The number at which another table of numbers begins. */
  readonly otherTable?: number;
  readonly refused: readonly number[];
}

/** The numbers by `process.arch`. The refused ones: */
const numbers: Readonly<Record<string, Numbers>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    clone3: 435,
    otherTable: 0x40000000,
    refused: [
      // socket, socketpair, fork, vfork
      41, 53, 57, 58,
      // ptrace, process_vm_readv, process_vm_writev, kcmp, pidfd_getfd
      101, 310, 311, 312, 438,
      // mount, umount2, pivot_root, chroot, unshare, setns, the newer calls of mounting
      165, 166, 155, 161, 272, 308, 428, 429, 430, 431, 432, 433, 442,
      // add_key, request_key, keyctl: keys are shared by all processes of a user
      248, 249, 250,
      // bpf, perf_event_open, userfaultfd, io_uring
      321, 298, 323, 425, 426, 427,
      // modules, kexec, reboot, swap, acct, quota, open_by_handle_at, execveat
      175, 176, 313, 246, 320, 169, 167, 168, 163, 179, 304, 322,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    refused: [
      198, 199, 117, 270, 271, 272, 438, 40, 39, 41, 51, 97, 268, 428, 429, 430, 431, 432, 433, 442, 217, 218,
      219, 280, 241, 282, 425, 426, 427, 105, 106, 273, 104, 294, 142, 224, 225, 89, 60, 265, 281,
    ],
  },
};

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const notPermitted = 0x00050000 | 1;
/** The answer of an older kernel: the C library then uses `clone`, whose flags can be checked. */
const noSuchCall = 0x00050000 | 38;
const threadFlag = 0x00010000;

const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfSet = 0x45;
const give = 0x06;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** The filter for this architecture, in the machine's byte order; undefined if its numbers are unknown. */
export function systemCallFilter(architecture: string = process.arch): Buffer | undefined {
  const known = numbers[architecture];
  if (known === undefined) return undefined;
  const program: Instruction[] = [
    [load, 0, 0, 4],
    [jumpIfEqual, 1, 0, known.audit],
    [give, 0, 0, killProcess],
    [load, 0, 0, 0],
  ];
  if (known.otherTable !== undefined)
    program.push([jumpIfAtLeast, 0, 1, known.otherTable], [give, 0, 0, notPermitted]);
  program.push([jumpIfEqual, 0, 1, known.clone3], [give, 0, 0, noSuchCall]);
  for (const number of known.refused) program.push([jumpIfEqual, 0, 1, number], [give, 0, 0, notPermitted]);
  program.push(
    [jumpIfEqual, 0, 3, known.clone],
    [load, 0, 0, 16],
    [jumpIfSet, 1, 0, threadFlag],
    [give, 0, 0, notPermitted],
    [give, 0, 0, allow],
  );
  const buffer = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, operand], index) => {
    buffer.writeUInt16LE(code, index * 8);
    buffer.writeUInt8(ifTrue, index * 8 + 2);
    buffer.writeUInt8(ifFalse, index * 8 + 3);
    buffer.writeUInt32LE(operand, index * 8 + 4);
  });
  return buffer;
}
