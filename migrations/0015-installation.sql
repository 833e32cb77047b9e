-- What this installation is known by, in one row. The fingerprint names the key that sealed every secret in these tables:
-- a process with another key is refused before it writes. Raising the generation revokes all admin tokens handed out so far.
create table installation (
  is_only boolean primary key check (is_only),
  key_fingerprint text not null,
  admin_token_generation integer not null
);

-- Secrets that the installation makes for itself, and that stay the same when the key is replaced.
create table installation_secret (
  name text collate "C" primary key,
  secret_sealed text not null
);
