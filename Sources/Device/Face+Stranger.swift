public import Crypto

extension Face {
    /// Draws a new face.
    public static func drawn(from entropy: Entropy) -> Face {
        Face(checked: entropy.bytes(secretLength))
    }

    /// The stranger this phone shows when a scan is to mismatch: stranger `number` is always the same other face.
    ///
    /// Derived one-way from the enrolled face, so that a repeated run repeats, and different from it as any two
    /// secrets are: the face token really does not open.
    public static func stranger(for face: Face, number: UInt64 = 0) -> Face {
        let label = [UInt8]("understudy stranger".utf8)
        let counter = withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
        return Face(checked: HMAC.sha256(key: face.secret, message: label + counter))
    }
}
