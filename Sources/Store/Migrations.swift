extension Migration {
    /// Every migration there has been, oldest first: append only, since each is applied somewhere already.
    static let all: [Migration] = [
        Migration(
            name: "devices and their keys",
            sql: """
                CREATE TABLE devices (
                    id TEXT PRIMARY KEY, platform TEXT NOT NULL, clock TEXT NOT NULL, scans TEXT NOT NULL,
                    fallback_scan TEXT NOT NULL, face BLOB NOT NULL, install_key TEXT NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE keys (
                    device TEXT NOT NULL REFERENCES devices ON DELETE CASCADE, handle TEXT NOT NULL,
                    purpose TEXT NOT NULL, scalar BLOB NOT NULL, created_at INTEGER NOT NULL,
                    invalidated INTEGER NOT NULL, PRIMARY KEY (device, handle)
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "enrolments",
            sql: """
                CREATE TABLE enrolments (
                    device TEXT NOT NULL REFERENCES devices ON DELETE CASCADE, issuer TEXT NOT NULL,
                    kid TEXT NOT NULL, email TEXT NOT NULL, subject TEXT NOT NULL, key TEXT NOT NULL,
                    created_at INTEGER NOT NULL, PRIMARY KEY (device, issuer, kid)
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "sessions",
            sql: """
                CREATE TABLE sessions (
                    sequence INTEGER PRIMARY KEY,
                    device TEXT NOT NULL UNIQUE REFERENCES devices ON DELETE CASCADE, issuer TEXT NOT NULL,
                    client_id TEXT NOT NULL, resource TEXT, access_token TEXT NOT NULL, expires_at INTEGER NOT NULL,
                    refresh_token TEXT, scope TEXT NOT NULL, claims TEXT NOT NULL, subject TEXT NOT NULL,
                    created_at INTEGER NOT NULL, token_endpoint TEXT NOT NULL, revocation_endpoint TEXT
                ) STRICT;
                """),
        Migration(
            name: "flows",
            sql: """
                CREATE TABLE flows (
                    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
                    device TEXT NOT NULL REFERENCES devices ON DELETE CASCADE, phase TEXT NOT NULL,
                    is_terminal INTEGER NOT NULL, is_parked INTEGER NOT NULL, updated_at INTEGER NOT NULL,
                    body BLOB NOT NULL
                ) STRICT;
                CREATE INDEX flows_of_device ON flows (device);
                CREATE INDEX flows_live ON flows (device) WHERE is_terminal = 0;
                CREATE INDEX flows_finished ON flows (updated_at) WHERE is_terminal = 1;
                """),
        Migration(
            name: "nonces",
            sql: """
                CREATE TABLE nonces (
                    device TEXT NOT NULL REFERENCES devices ON DELETE CASCADE, role TEXT NOT NULL,
                    origin TEXT NOT NULL, nonce TEXT NOT NULL, received_at INTEGER NOT NULL,
                    PRIMARY KEY (device, role, origin)
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "journal",
            sql: """
                CREATE TABLE journal (
                    sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, device TEXT, flow TEXT,
                    kind TEXT NOT NULL, body BLOB NOT NULL
                ) STRICT;
                CREATE INDEX journal_of_device ON journal (device) WHERE device IS NOT NULL;
                """),
        Migration(
            name: "identity provider records",
            sql: """
                CREATE TABLE idp_records (
                    idp TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
                    PRIMARY KEY (idp, kind, key)
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "live flows of all devices, journal of a flow",
            sql: """
                CREATE INDEX flows_live_by_age ON flows (is_terminal) WHERE is_terminal = 0;
                CREATE INDEX journal_of_flow ON journal (flow) WHERE flow IS NOT NULL;
                """),
        Migration(
            name: "sessions without an ID token",
            sql: """
                CREATE TABLE sessions_new (
                    sequence INTEGER PRIMARY KEY,
                    device TEXT NOT NULL UNIQUE REFERENCES devices ON DELETE CASCADE, issuer TEXT NOT NULL,
                    client_id TEXT NOT NULL, resource TEXT, access_token TEXT NOT NULL, expires_at INTEGER NOT NULL,
                    refresh_token TEXT, scope TEXT NOT NULL, claims TEXT, subject TEXT,
                    created_at INTEGER NOT NULL, token_endpoint TEXT NOT NULL, revocation_endpoint TEXT
                ) STRICT;
                INSERT INTO sessions_new SELECT * FROM sessions;
                DROP TABLE sessions;
                ALTER TABLE sessions_new RENAME TO sessions;
                """),
        Migration(
            name: "attestation",
            sql: """
                CREATE TABLE attestation_roots (
                    id INTEGER PRIMARY KEY CHECK (id = 1), body BLOB NOT NULL
                ) STRICT;
                CREATE TABLE attested_installs (
                    device TEXT PRIMARY KEY REFERENCES devices ON DELETE CASCADE, body BLOB NOT NULL
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "attestation settings, other installs' keys, client instances",
            sql: """
                ALTER TABLE devices ADD COLUMN attestation TEXT;
                CREATE INDEX keys_app_attest ON keys (device) WHERE purpose = 'appAttest';
                CREATE TABLE client_instances (
                    device TEXT NOT NULL REFERENCES devices ON DELETE CASCADE, issuer TEXT NOT NULL,
                    client_id TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (device, issuer, client_id)
                ) STRICT, WITHOUT ROWID;
                """),
        Migration(
            name: "conditions of devices",
            sql: """
                CREATE TABLE device_conditions (
                    device TEXT PRIMARY KEY REFERENCES devices ON DELETE CASCADE, offline INTEGER NOT NULL,
                    locked_out INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                """),
        // Which enrolment is the newest decides whose key signs, and two can be of one millisecond.
        Migration(
            name: "enrolments in order",
            sql: """
                ALTER TABLE enrolments ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
                UPDATE enrolments SET sequence = (
                    SELECT COUNT(*) FROM enrolments AS other WHERE other.device = enrolments.device
                        AND (other.created_at, other.issuer, other.kid)
                            <= (enrolments.created_at, enrolments.issuer, enrolments.kid));
                CREATE UNIQUE INDEX enrolments_in_order ON enrolments (device, sequence);
                """),
    ]
}
