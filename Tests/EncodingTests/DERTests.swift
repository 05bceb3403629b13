import Encoding
import Testing

@Suite struct DERTests {
    static let written: [([UInt8], String)] = [
        (DER.integer(0), "020100"), (DER.integer(127), "02017f"), (DER.integer(128), "02020080"),
        (DER.integer(-128), "020180"), (DER.integer(-129), "0202ff7f"), (DER.integer(magnitude: []), "020100"),
        (DER.integer(magnitude: [0, 0, 0x80]), "02020080"), (DER.integer(magnitude: [0x7F]), "02017f"),
        (DER.enumerated(2), "0a0102"), (DER.boolean(true), "0101ff"), (DER.null, "0500"),
        (DER.octetString([1, 2]), "04020102"), (DER.bitString([0xF0], unusedBits: 4), "030204f0"),
        (DER.namedBits([0]), "03020780"), (DER.namedBits([5, 6]), "03020106"), (DER.namedBits([]), "030100"),
        (DER.oid("1.2.840.113635.100.8.2"), "06092a864886f763640802"), (DER.oid("2.5.29.15"), "0603551d0f"),
        (DER.oid("2.999"), "06028837"), (DER.utf8String("é"), "0c02c3a9"), (DER.sequence([]), "3000"),
        (DER.set([[0x02, 1, 9], [0x02, 1, 3]]), "3106020103020109"),
        (DER.explicit(1, DER.octetString([7])), "a103040107"), (DER.explicit(503, DER.null), "bf8377020500"),
        (DER.explicit(704, DER.integer(1)), "bf854003020101"), (DER.implicit(0, [5]), "800105"),
        (DER.implicit(31, [5]), "9f1f0105"),
        (DER.time(Instant(seconds: 0)), "170d3730303130313030303030305a"),
        (DER.time(Instant(seconds: 2_524_608_000)), "180f32303530303130313030303030305a"),
    ]

    @Test(arguments: written) func `elements are written as X.690 has them`(bytes: [UInt8], text: String) throws {
        #expect(Hex.encode(bytes) == text)
        #expect(try DERElement(parsing: bytes).encoded == bytes[...])
    }

    @Test func `lengths take as few bytes as will do, and come back`() throws {
        for count in [0, 1, 127, 128, 255, 256, 60_000] {
            let content = [UInt8](repeating: 7, count: count)
            let element = try DERElement(parsing: DER.octetString(content))
            #expect(try element.octetString() == content)
        }
    }

    @Test func `what is BER and not DER is refused by its rule`() throws {
        let cases: [(String, DERError.Rule)] = [
            ("", .truncated), ("02", .truncated), ("0201", .truncated), ("3003020100ff", .trailingBytes),
            ("3002020100", .truncated), ("30800000", .indefiniteLength), ("02810100", .lengthNotShortest),
            ("0282000100", .lengthNotShortest), ("0285010000000000", .truncated), ("9f1e00", .tag), ("bf807700", .tag),
            ("bfffffffff7f00", .tag), ("0000", .form), ("2403040101", .form), ("1003020100", .form),
        ]
        for (text, rule) in cases {
            let bytes = try Hex.decode(text)
            let error = #expect(throws: DERError.self, "\(text)") { try DERElement(parsing: bytes) }
            #expect(error?.rule == rule, "\(text)")
        }
        var deep = DER.null
        for _ in 0...DERElement.depthLimit { deep = DER.sequence([deep]) }
        let tooDeep = deep
        #expect(throws: DERError(rule: .tooDeep, offset: 32)) { try DERElement(parsing: tooDeep) }
        let tooLong = [UInt8](repeating: 0, count: DERElement.sizeLimit + 1)
        #expect(throws: DERError(rule: .tooLong, offset: DERElement.sizeLimit)) { try DERElement(parsing: tooLong) }
    }

    @Test func `values that are not the only encoding are refused where they are asked for`() throws {
        func element(_ text: String) throws -> DERElement { try DERElement(parsing: Hex.decode(text)) }
        for text in ["0200", "0202007f", "0202ff80", "0a0101", "0209010000000000000000"] {
            let read = try element(text)
            #expect(throws: DERError.self, "\(text)") { try read.integer() }
        }
        let negative = try element("0201ff")
        #expect(throws: DERError.self) { try negative.magnitude() }
        #expect(try negative.integer() == -1)
        let yes = try element("010101")
        #expect(throws: DERError.self) { try yes.boolean() }
        let unsorted = try element("3106020109020103")
        #expect(throws: DERError.self) { try unsorted.set() }
        for text in ["0300", "030208f0", "03020401", "030101"] {
            let read = try element(text)
            #expect(throws: DERError.self, "\(text)") { try read.bitString() }
        }
        for text in ["0600", "06028001", "060188"] {
            let read = try element(text)
            #expect(throws: DERError.self, "\(text)") { try read.oid() }
        }
        for text in ["170b373030313031303030305a", "170d3730313331323030303030305a", "170d3730303130313030303030302b"] {
            let read = try element(text)
            #expect(throws: DERError.self, "\(text)") { try read.time() }
        }
        let unusual = try element("0c01ff")
        #expect(throws: DERError.self) { try unusual.string() }
    }

    @Test func `integers, identifiers and tags come back`() throws {
        for value in [0, 1, -1, 127, 128, -128, -129, 255, 256, 65_535, Int64.max, Int64.min] {
            #expect(try DERElement(parsing: DER.integer(value)).integer() == value)
        }
        for oid in ["0.39", "1.2.840.10045.4.3.2", "2.999.3", "2.5.29.19", "1.3.6.1.4.1.11129.2.1.17"] {
            #expect(try DERElement(parsing: DER.oid(oid)).oid() == oid)
        }
        for tag in [0, 1, 30, 31, 127, 128, 704, 724, 16_384] {
            let element = try DERElement(parsing: DER.explicit(tag, DER.integer(5)))
            #expect(element.contextTag == tag)
            #expect(try element.explicit(tag).integer() == 5)
        }
    }

    @Test func `times come back, in either form`() throws {
        for seconds: Int64 in [0, 951_782_400, 1_798_761_599, 2_524_607_999, 2_524_608_000, 4_107_542_400] {
            #expect(try DERElement(parsing: DER.time(Instant(seconds: seconds))).time() == Instant(seconds: seconds))
        }
    }
}

@Suite struct CalendarTimeTests {
    @Test func `every day of four centuries is one day after the one before`() throws {
        var expected = try #require(CalendarTime(year: 1900, month: 1, day: 1, hour: 0, minute: 0, second: 0)).instant
        for year in 1900..<2300 {
            for month in 1...12 {
                for day in 1...31 {
                    guard let time = CalendarTime(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
                    else { continue }
                    #expect(time.instant == expected)
                    #expect(CalendarTime(expected) == time)
                    expected = expected.adding(seconds: 86_400)
                }
            }
        }
        #expect(CalendarTime(expected).year == 2300)
    }

    @Test func `days and times the calendar lacks are none`() {
        #expect(CalendarTime(year: 2023, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
        #expect(CalendarTime(year: 2024, month: 2, day: 29, hour: 0, minute: 0, second: 0) != nil)
        #expect(CalendarTime(year: 2100, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
        #expect(CalendarTime(year: 2024, month: 13, day: 1, hour: 0, minute: 0, second: 0) == nil)
        #expect(CalendarTime(year: 2024, month: 1, day: 1, hour: 24, minute: 0, second: 0) == nil)
        #expect(CalendarTime(year: 2024, month: 1, day: 1, hour: 0, minute: 0, second: 60) == nil)
    }

    @Test func `an instant is written as ISO 8601 has it`() {
        #expect(CalendarTime(Instant(seconds: 1_796_014_200)).iso8601 == "2026-11-30T04:50:00Z")
        #expect(CalendarTime(Instant(milliseconds: -1)).iso8601 == "1969-12-31T23:59:59Z")
    }
}
