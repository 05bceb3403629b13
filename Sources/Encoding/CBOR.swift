/// A CBOR value (RFC 8949) of the kinds authenticators speak, whose maps keep their order.
///
/// No floats, tags, undefined or indefinite lengths: nothing that an attestation holds needs them.
public indirect enum CBOR: Sendable, Hashable {
    /// A number from 0 up.
    case unsigned(UInt64)
    /// The number -1 - n, for the n given here.
    case negative(UInt64)
    /// A byte string.
    case bytes([UInt8])
    /// A text string.
    case text(String)
    /// An array.
    case array([CBOR])
    /// A map, its pairs in the order they are written in.
    case map([Pair])
    /// `true` or `false`.
    case bool(Bool)
    /// `null`.
    case null

    /// A key of a map with its value.
    public struct Pair: Sendable, Hashable {
        /// The key.
        public let key: CBOR
        /// The value.
        public let value: CBOR

        /// Pairs a key with a value.
        public init(_ key: CBOR, _ value: CBOR) {
            self.key = key
            self.value = value
        }
    }

    /// The integer of either sign.
    public static func int(_ value: Int64) -> CBOR {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// A map of text keys.
    public static func map(_ pairs: [(String, CBOR)]) -> CBOR {
        .map(pairs.map { Pair(.text($0.0), $0.1) })
    }

    /// The integer, or nil where this is something else or does not fit 64 signed bits.
    public var int: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        default: nil
        }
    }

    /// The bytes, or nil where this is something else.
    public var bytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The text, or nil where this is something else.
    public var text: String? {
        if case .text(let value) = self { value } else { nil }
    }

    /// The elements, or nil where this is something else.
    public var array: [CBOR]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The pairs in order, or nil where this is something else.
    public var map: [Pair]? {
        if case .map(let value) = self { value } else { nil }
    }

    /// The value of a text key, or nil where this is no map or has no such key.
    public subscript(name: String) -> CBOR? { value(of: .text(name)) }

    /// The value of an integer key, or nil where this is no map or has no such key.
    public subscript(number: Int64) -> CBOR? { value(of: .int(number)) }

    private func value(of key: CBOR) -> CBOR? { map?.first { $0.key == key }?.value }
}

extension CBOR {
    /// Writes the value with definite lengths and shortest forms, maps in the order of their pairs.
    ///
    /// Pairs in CTAP2's canonical order, shorter keys first, make the encoding canonical.
    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .unsigned(let value): Self.head(0, value, to: &bytes)
        case .negative(let value): Self.head(1, value, to: &bytes)
        case .bytes(let value):
            Self.head(2, UInt64(value.count), to: &bytes)
            bytes += value
        case .text(let value):
            Self.head(3, UInt64(value.utf8.count), to: &bytes)
            bytes += value.utf8
        case .array(let elements):
            Self.head(4, UInt64(elements.count), to: &bytes)
            for element in elements { element.write(to: &bytes) }
        case .map(let pairs):
            Self.head(5, UInt64(pairs.count), to: &bytes)
            for pair in pairs {
                pair.key.write(to: &bytes)
                pair.value.write(to: &bytes)
            }
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .null: bytes.append(0xF6)
        }
    }

    /// The first byte, with the major type, and as few bytes of the argument as will do.
    private static func head(_ major: UInt8, _ argument: UInt64, to bytes: inout [UInt8]) {
        let (marker, width): (UInt8, Int) =
            switch argument {
            case 0..<24: (UInt8(argument), 0)
            case 24...0xFF: (24, 1)
            case 0x100...0xFFFF: (25, 2)
            case 0x1_0000...0xFFFF_FFFF: (26, 4)
            default: (27, 8)
            }
        bytes.append(major << 5 | marker)
        for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(8 * (width - 1 - index)))) }
    }
}
