public import Encoding

/// A server's metadata document as it was fetched.
public struct CachedMetadata: Sendable, Hashable {
    /// The issuer it is about.
    public var issuer: String
    /// The document, JSON as it came.
    public var body: [UInt8]
    /// When it came, on the wall clock.
    public var fetchedAt: Instant

    /// Makes an entry.
    public init(issuer: String, body: [UInt8], fetchedAt: Instant) {
        self.issuer = issuer
        self.body = body
        self.fetchedAt = fetchedAt
    }
}

extension StoreReader {
    /// The cached metadata of an issuer, however old.
    public func metadata(of issuer: String) throws(StoreError) -> CachedMetadata? {
        try connection.first(.metadata, [.text(issuer)]) { (row) throws(StoreError) in
            CachedMetadata(
                issuer: row.text(0), body: row.bytes(1), fetchedAt: Instant(milliseconds: row.integer(2)))
        }
    }
}

extension StoreWriter {
    /// The most issuers whose metadata is kept.
    public static var mostCachedIssuers: Int { 256 }

    /// Caches an issuer's metadata; past `mostCachedIssuers`, the longest unfetched is forgotten.
    public func setMetadata(_ metadata: CachedMetadata) throws(StoreError) {
        try connection.run(
            .setMetadata,
            [.text(metadata.issuer), .blob(metadata.body), .integer(metadata.fetchedAt.milliseconds)])
        try connection.run(.trimMetadata, [.integer(Int64(Self.mostCachedIssuers))])
    }

    /// Forgets an issuer's metadata; tells whether there was any.
    @discardableResult
    public func deleteMetadata(of issuer: String) throws(StoreError) -> Bool {
        try connection.run(.deleteMetadata, [.text(issuer)]) == 1
    }
}

extension SQL {
    static let metadata = SQL("metadata.get", "SELECT issuer, body, fetched_at FROM metadata WHERE issuer = ?1")
    static let setMetadata = SQL(
        "metadata.set",
        """
        INSERT INTO metadata (issuer, body, fetched_at) VALUES (?1, ?2, ?3)
        ON CONFLICT (issuer) DO UPDATE SET body = ?2, fetched_at = ?3
        """)
    static let trimMetadata = SQL(
        "metadata.trim",
        """
        DELETE FROM metadata WHERE rowid IN (
            SELECT rowid FROM metadata ORDER BY fetched_at DESC LIMIT -1 OFFSET ?1)
        """)
    static let deleteMetadata = SQL("metadata.delete", "DELETE FROM metadata WHERE issuer = ?1")
}
