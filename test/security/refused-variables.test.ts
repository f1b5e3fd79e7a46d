import { expect, it } from "vitest";
import { isRefusedVariable } from "../../src/adapters/capability/exec-variables.ts";

const refused =
  "SSLKEYLOGFILE APT_CONFIG ALSA_CONFIG_PATH LIBGL_DRIVERS_PATH LIBVA_DRIVERS_PATH VK_ICD_FILENAMES LV2_PATH GTK2_RC_FILES " +
  "DEBUGINFOD_URLS DPKG_ROOT DEBCONF_DB_OVERRIDE RPM_CONFIGDIR MAGIC FCEDIT TMP TEMP PWD OLDPWD ELECTRON_RUN_AS_NODE " +
  "NIX_PATH BC_ENV_ARGS FFREPORT LYNX_CFG PGOPTIONS PGHOST PGSSLROOTCERT AWS_CA_BUNDLE AWS_ENDPOINT_URL " +
  "COREPACK_NPM_REGISTRY DIRENV_CONFIG SCREENRC GNUTLS_SYSTEM_PRIORITY_FILE sslkeylogfile Pghost";

it.each(refused.split(" "))("a program is given no variable %s", (name) => {
  expect(isRefusedVariable(name)).toBe(true);
});

it.each([
  "CITY",
  "API_KEY",
  "OPENAI_API_KEY",
  "PGPASSWORD",
  "PGUSER",
  "AWS_ACCESS_KEY_ID",
  "AWS_REGION",
  "TZ",
  "LC_ALL",
  "COLUMNS",
])("a program is given the variable %s, which says what it works with", (name) => {
  expect(isRefusedVariable(name)).toBe(false);
});
