import Testing

@testable import understudy

/// Text of others on a terminal, times and columns.
struct DisplayTests {
    @Test func `control characters are written out`() {
        #expect(Display.safe("plain, größer, 日本") == "plain, größer, 日本")
        #expect(Display.safe("\u{1b}[2J\r\nx") == "\\u{1b}[2J\\u{d}\\u{a}x")
        #expect(Display.safe("a\u{202e}b\u{9b}c") == "a\\u{202e}b\\u{9b}c")
    }

    @Test(
        arguments: [
            (0, "1970-01-01 00:00:00Z"), (951_782_399, "2000-02-28 23:59:59Z"), (951_782_400, "2000-02-29 00:00:00Z"),
            (1_790_000_000, "2026-09-21 14:13:20Z"), (-1, "1969-12-31 23:59:59Z"),
            (4_107_542_400, "2100-03-01 00:00:00Z"),
        ] as [(Int64, String)])
    func `seconds since 1970 are shown as date and time`(seconds: Int64, expected: String) {
        #expect(Display.time(seconds) == expected)
    }

    @Test func `columns are as wide as their widest cell and end without blanks`() {
        #expect(
            Columns.table(["A", "BB"], [["long", "x"], ["s", ""]]) == ["A     BB", "long  x", "s"])
        #expect(
            Columns.pairs([("a", "1"), ("long", "2"), ("", "3")], indent: 1) == [" a     1", " long  2", "       3"])
    }
}
