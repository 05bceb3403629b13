import Encoding

/// Bytes written in hexadecimal, for vectors.
func hex(_ text: String) throws -> [UInt8] { try Hex.decode(text.lowercased()) }

/// The bytes with one bit turned over.
func flipping(bit: Int, of bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    return bytes
}
