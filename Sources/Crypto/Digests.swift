/// SHA-256 (FIPS 180-4): 32 bytes of any message.
public enum SHA256 {
    /// The number of bytes in a digest.
    public static let byteCount = 32

    /// Hashes `bytes` to 32 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { FetchedDigest.sha256.hash($0, count: byteCount) }
    }

    /// Hashes a run of bytes to 32 bytes.
    public static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.withUnsafeBytes { FetchedDigest.sha256.hash($0, count: byteCount) }
    }

    /// Hashes the characters of a token, code or verifier, one byte each, to 32 bytes.
    ///
    /// A text beyond ASCII is hashed as its UTF-8.
    public static func hash(ascii text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { FetchedDigest.sha256.hash(UnsafeRawBufferPointer($0), count: byteCount) }
    }
}

/// SHA-384 (FIPS 180-4): 48 bytes of any message.
public enum SHA384 {
    /// The number of bytes in a digest.
    public static let byteCount = 48

    /// Hashes `bytes` to 48 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { FetchedDigest.sha384.hash($0, count: byteCount) }
    }
}

/// SHA-512 (FIPS 180-4): 64 bytes of any message.
public enum SHA512 {
    /// The number of bytes in a digest.
    public static let byteCount = 64

    /// Hashes `bytes` to 64 bytes.
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { FetchedDigest.sha512.hash($0, count: byteCount) }
    }
}
