/// The labelled HKDF of HPKE (RFC 9180 section 4), for one suite.
struct LabeledKDF {
    /// Names the suite, so that a key of one is never a key of another.
    let suite: [UInt8]

    private static let version = [UInt8]("HPKE-v1".utf8)

    /// LabeledExtract: 32 bytes out of input of any length.
    func extract(label: String, salt: [UInt8] = [], ikm: [UInt8]) -> [UInt8] {
        var labeled: [UInt8] = []
        // Reserved, since growing would leave the secret input behind in memory that is given back.
        labeled.reserveCapacity(Self.version.count + suite.count + label.utf8.count + ikm.count)
        labeled += Self.version
        labeled += suite
        labeled += label.utf8
        labeled += ikm
        defer { labeled.wipe() }
        // HMAC pads its key with zeros, so no salt is the same as 32 of them (RFC 5869 section 2.2).
        return HMAC.sha256(key: salt, message: labeled)
    }

    /// LabeledExpand to 32 bytes, which is a single round of HKDF-Expand with SHA-256.
    func expand(_ key: [UInt8], label: String, info: [UInt8]) -> [UInt8] {
        let labeled = [0, 32] + Self.version + suite + Array(label.utf8) + info
        return HMAC.sha256(key: key, message: labeled + [1])
    }
}
