/**
 * Variables that change which code a program loads, which other programs it starts, which settings it reads, or whom it trusts, by their
 * purpose. A star stands for any letters. Each program decides itself what it reads, so no list can be complete.
 */
const names: Readonly<Record<string, string>> = {
  system: "PATH HOME PWD OLDPWD TMP TEMP TMPDIR XDG_* MAIL* TERMINFO* TERMCAP TERMPATH INPUTRC",
  shells:
    "SHELL IFS PS4 ENV BASH_* BASHOPTS SHELLOPTS CDPATH FPATH ZDOTDIR PROMPT_COMMAND GLOBIGNORE HISTFILE FCEDIT SUDO_* DOAS_* DIRENV_* SCREENRC BC_*",
  loaders:
    "LD_* DYLD_* GLIBC_* DEBUGINFOD_* GCONV_PATH MALLOC_* LOCPATH NLSPATH LIBPATH SHLIB_PATH *SAN_OPTIONS",
  network:
    "SSL_* SSLKEYLOGFILE OPENSSL_* GNUTLS_* CURL_* WGETRC SYSTEM_WGETRC NETRC *_PROXY HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_* KRB5* SASL_* LDAP* NSS_* P11_KIT_* GNUPGHOME LYNX_*",
  versions: "GIT_* HG* SVN_* CVS* BZR_* SSH_* RSYNC_* BORG_* RESTIC_* RCLONE_*",
  editors:
    "EDITOR VISUAL *_EDITOR EXINIT VIMINIT GVIMINIT MYVIMRC VIM VIMRUNTIME NVIM_* EMACS* PAGER *PAGER LESS* MANOPT MANPATH MANROFF* GROFF_* BROWSER",
  text: "MAGIC AWKPATH AWKLIBPATH GAWK_* GREP_OPTIONS RIPGREP_CONFIG_PATH FZF_* JQ_*",
  archives: "TAR_OPTIONS TAR_* TAPE GZIP BZIP BZIP2 XZ_* ZSTD_* ZIP* UNZIP* CPIO_*",
  building:
    "MAKE* GNUMAKEFLAGS MFLAGS CMAKE_* NINJA_* CC CXX CPP LD AS AR *FLAGS COMPILER_PATH LIBRARY_PATH CPATH *_INCLUDE_PATH GCC_* PKG_CONFIG* ACLOCAL* AUTOM4TE* M4PATH CARGO_* RUST* GO* CCACHE_* DISTCC_*",
  languages:
    "NODE_* NPM_* YARN_* PNPM_* BUN_* DENO_* TS_NODE_* PYTHON* PIP_* UV_* CONDA_* POETRY_* PERL* RUBY* GEM_* BUNDLE_* PHP* LUA_* R_* JULIA_* TCL* OCAML* CAML* GHC* ERL_* ELIXIR_* GUILE_* COREPACK_* ELECTRON_*",
  "virtual machines":
    "JAVA_* _JAVA_* JDK_* JRE_* CLASSPATH MAVEN_* GRADLE_* ANT_* SBT_* DOTNET_* COR_* CORECLR_* MONO_*",
  databases:
    "PSQLRC PSQL_* PGSERVICEFILE PGSYSCONFDIR PGPASSFILE PGOPTIONS PGHOST* PGSSL* PGSERVICE MYSQL_HOME MYSQL_TEST_* LIBMYSQL_* ODBC* SQLITE_*",
  desktops:
    "DISPLAY DBUS_* GTK* GDK_* GIO_* GST_* QT_* QML* G_MESSAGES_* FONTCONFIG_* MAGICK_* GS_* TEXINPUTS TEXMF* OPENSCAD* ALSA_* LIBGL_* LIBVA_* VK_* LV2_* FFREPORT",
  packages: "APT_* DPKG_* DEBCONF_* RPM_* NIX_*",
  clouds:
    "DOCKER_* KUBECONFIG KUBE_* HELM_* ANSIBLE_* TF_CLI_* AWS_CONFIG_FILE AWS_CA_BUNDLE AWS_ENDPOINT_URL* AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_*",
};

const pattern = new RegExp(
  `^(?:${Object.values(names)
    .flatMap((line) => line.split(" "))
    .map((name) => name.replaceAll("*", ".*"))
    .join("|")})$`,
  "i",
);

/** True for a variable that no program gets. */
export function isRefusedVariable(name: string): boolean {
  return pattern.test(name);
}
