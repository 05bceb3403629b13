import Encoding
import Testing

@Suite struct CBORTests {
    /// RFC 8949 appendix A, the values of the kinds spoken here.
    static let vectors: [(CBOR, String)] = [
        (.unsigned(0), "00"), (.unsigned(23), "17"), (.unsigned(24), "1818"), (.unsigned(255), "18ff"),
        (.unsigned(1000), "1903e8"), (.unsigned(1_000_000), "1a000f4240"),
        (.unsigned(1_000_000_000_000), "1b000000e8d4a51000"), (.unsigned(.max), "1bffffffffffffffff"),
        (.int(-1), "20"), (.int(-10), "29"), (.int(-100), "3863"), (.int(-1000), "3903e7"),
        (.negative(.max), "3bffffffffffffffff"), (.bool(false), "f4"), (.bool(true), "f5"), (.null, "f6"),
        (.bytes([]), "40"), (.bytes([1, 2, 3, 4]), "4401020304"), (.text(""), "60"), (.text("IETF"), "6449455446"),
        (.text("\u{00fc}"), "62c3bc"), (.array([]), "80"),
        (.array([.int(1), .array([.int(2), .int(3)]), .array([.int(4), .int(5)])]), "8301820203820405"),
        (.map([(String, CBOR)]()), "a0"),
        (.map([("a", .int(1)), ("b", .array([.int(2), .int(3)]))]), "a26161016162820203"),
    ]

    @Test(arguments: vectors) func `RFC 8949's examples are written and read`(value: CBOR, text: String) throws {
        #expect(Hex.encode(value.serialized()) == text)
        #expect(try CBOR(parsing: Hex.decode(text)) == value)
    }

    static let refused: [(String, CBORError.Rule)] = [
        ("", .truncated), ("18", .truncated), ("4401", .truncated), ("8201", .truncated), ("a101", .truncated),
        ("9bffffffffffffffff", .truncated), ("5bffffffffffffffff00", .truncated), ("bb8000000000000000", .truncated),
        ("0000", .trailingBytes), ("f6f6", .trailingBytes), ("1817", .notShortest), ("1900ff", .notShortest),
        ("1a0000ffff", .notShortest), ("1b00000000ffffffff", .notShortest), ("580100", .notShortest),
        ("7817" + String(repeating: "61", count: 23), .notShortest), ("5f4101ff", .indefiniteLength),
        ("7f6161ff", .indefiniteLength), ("9f01ff", .indefiniteLength), ("bf6161f6ff", .indefiniteLength),
        ("ff", .indefiniteLength), ("a2010102", .truncated), ("a201010102", .repeatedKey),
        ("a2616101616102", .repeatedKey), ("61ff", .notUTF8), ("c000", .unsupported), ("f93c00", .unsupported),
        ("f7", .unsupported), ("f0", .unsupported), ("1c", .unsupported), ("1f", .unsupported),
        (String(repeating: "81", count: 9) + "00", .tooDeep),
    ]

    @Test(arguments: refused) func `what is not canonical is refused by its rule`(
        text: String, rule: CBORError.Rule
    ) throws {
        let bytes = try Hex.decode(text)
        let error = #expect(throws: CBORError.self) { try CBOR(parsing: bytes) }
        #expect(error?.rule == rule)
    }

    @Test func `every rule but the size has an example`() {
        #expect(Set(Self.refused.map(\.1)) == Set(CBORError.Rule.allCases).subtracting([.tooLong]))
    }

    @Test func `more bytes than the limit are refused unread`() {
        #expect(throws: CBORError(rule: .tooLong, offset: 4)) { try CBOR(parsing: [0, 0, 0, 0, 0], sizeLimit: 4) }
    }

    @Test func `a value in front is read with its length`() throws {
        let bytes = try Hex.decode("00a1010203ff")
        let (value, count) = try CBOR.decodePrefix(bytes[1...])
        #expect(value[1] == .int(2))
        #expect(count == 3)
    }

    @Test func `cutting an encoding anywhere makes it unreadable`() throws {
        let value = CBOR.map([("fmt", .text("x")), ("n", .array([.int(-70_000), .bytes([1, 2]), .null]))])
        let bytes = value.serialized()
        #expect(try CBOR(parsing: bytes) == value)
        for count in bytes.indices {
            #expect(throws: CBORError.self) { try CBOR(parsing: Array(bytes.prefix(count))) }
        }
    }

    @Test func `whatever is read is written as the same bytes`() {
        // Single bytes turned over reach every kind of head.
        let bytes = CBOR.map([("k", .array([.int(500), .text("abc"), .bool(true)])), ("z", .bytes([9, 9]))])
            .serialized()
        var read = 0
        for index in bytes.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = byte
                guard let value = try? CBOR(parsing: changed) else { continue }
                read += 1
                #expect(value.serialized() == changed)
            }
        }
        #expect(read > bytes.count)
    }
}
