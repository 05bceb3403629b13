/// Reads JSON5 strictly and bounded: at most 1 MiB and 64 levels, and no name twice in an object.
public struct JSON5Reader {
    /// The longest text, in bytes of UTF-8.
    public static let longest = 1 << 20
    /// The deepest nesting.
    public static let deepest = 64

    private let text: [Character]
    private var at = 0
    private var line = 1
    private var column = 1

    private init(_ text: String) { self.text = Array(text) }

    /// Reads one value and nothing behind it but blanks and comments.
    ///
    /// Throws ``JSON5Error`` at the first fault.
    public static func read(_ text: String) throws(JSON5Error) -> JSON5Value {
        guard text.utf8.count <= longest else {
            throw JSON5Error(place: TextPlace(line: 1, column: 1), rule: "a file has at most \(longest) bytes")
        }
        var reader = JSON5Reader(text)
        try reader.skipBlanks()
        let value = try reader.value(depth: 0)
        try reader.skipBlanks()
        guard reader.next == nil else { throw reader.wanted("the end of the file") }
        return value
    }

    private var next: Character? { at < text.count ? text[at] : nil }
    private var place: TextPlace { TextPlace(line: line, column: column) }

    private func wanted(_ what: String, at place: TextPlace? = nil) -> JSON5Error {
        let found = next.map { "'\($0.isNewline ? "end of line" : String($0))'" } ?? "the end of the file"
        return JSON5Error(place: place ?? self.place, rule: "expected \(what), found \(found)")
    }

    @discardableResult
    private mutating func take() -> Character {
        let character = text[at]
        at += 1
        if character.isNewline {
            line += 1
            column = 1
        } else {
            column += 1
        }
        return character
    }

    private mutating func take(_ wanted: Character) -> Bool {
        guard next == wanted else { return false }
        take()
        return true
    }

    private mutating func skipBlanks() throws(JSON5Error) {
        while let character = next {
            if character.isWhitespace || character == "\u{FEFF}" {
                take()
            } else if character == "/" {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let start = place
        take()
        if take("/") {
            while let character = next, !character.isNewline { _ = (character, take()) }
        } else if take("*") {
            while true {
                guard next != nil else { throw wanted("the end of the comment that began at \(start)") }
                if take() == "*", next == "/" { break }
            }
            take()
        } else {
            throw wanted("// or /*")
        }
    }

    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5Value {
        guard depth <= Self.deepest else {
            throw JSON5Error(place: place, rule: "values nest at most \(Self.deepest) deep")
        }
        let start = place
        guard let first = next else { throw wanted("a value") }
        switch first {
        case "{": return JSON5Value(content: .object(try members(depth)), place: start)
        case "[": return JSON5Value(content: .array(try elements(depth)), place: start)
        case "\"", "'": return JSON5Value(content: .string(try quoted()), place: start)
        case "-", "+", ".", "0"..."9": return JSON5Value(content: try number(), place: start)
        default: return JSON5Value(content: try word(), place: start)
        }
    }

    private mutating func elements(_ depth: Int) throws(JSON5Error) -> [JSON5Value] {
        take()
        var elements: [JSON5Value] = []
        try skipBlanks()
        while !take("]") {
            elements.append(try value(depth: depth + 1))
            try endOfPart("]")
        }
        return elements
    }

    private mutating func members(_ depth: Int) throws(JSON5Error) -> [JSON5Value.Member] {
        take()
        var members: [JSON5Value.Member] = []
        var names: Set<String> = []
        try skipBlanks()
        while !take("}") {
            let start = place
            let name = next == "\"" || next == "'" ? try quoted() : try identifier()
            guard names.insert(name).inserted else {
                throw JSON5Error(place: start, rule: "'\(name)' stands twice in this object")
            }
            try skipBlanks()
            guard take(":") else { throw wanted("':' behind '\(name)'") }
            try skipBlanks()
            members.append(JSON5Value.Member(name: name, place: start, value: try value(depth: depth + 1)))
            try endOfPart("}")
        }
        return members
    }

    /// A comma, or the end, which is left for the caller.
    private mutating func endOfPart(_ end: Character) throws(JSON5Error) {
        try skipBlanks()
        if take(",") {
            try skipBlanks()
        } else if next != end {
            throw wanted("',' or '\(end)'")
        }
    }

    private mutating func identifier() throws(JSON5Error) -> String {
        guard let first = next, first.isLetter || first == "_" || first == "$" else { throw wanted("a name") }
        var name = ""
        while let character = next, character.isLetter || character.isNumber || character == "_" || character == "$" {
            name.append(character)
            take()
        }
        return name
    }

    private mutating func word() throws(JSON5Error) -> JSON5Value.Content {
        let start = place
        let word = try identifier()
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: throw JSON5Error(place: start, rule: "expected a value, found '\(word)'; text stands in quotes")
        }
    }

    private mutating func number() throws(JSON5Error) -> JSON5Value.Content {
        let start = place
        var digits = ""
        while let character = next, character.isASCII, character.isNumber || "+-.eExX".contains(character) {
            digits.append(character)
            take()
        }
        let plain = digits.hasPrefix("+") ? String(digits.dropFirst()) : digits
        let whole = plain.hasPrefix("-") ? plain.dropFirst() : plain[...]
        let hasIdleZero = whole.count > 1 && whole.hasPrefix("0") && !whole.dropFirst().hasPrefix(".")
        if !hasIdleZero, let number = Int64(plain) { return .int(number) }
        guard !hasIdleZero, !plain.lowercased().contains("x"), let number = Double(plain), number.isFinite else {
            throw JSON5Error(place: start, rule: "'\(digits)' is no decimal number")
        }
        return .double(number)
    }

    private mutating func quoted() throws(JSON5Error) -> String {
        let start = place
        let quote = take()
        var text = ""
        while true {
            guard let character = next, !character.isNewline else {
                throw JSON5Error(place: start, rule: "the text that begins here has no closing \(quote)")
            }
            take()
            if character == quote { return text }
            if character == "\\" { try escape(into: &text) } else { text.append(character) }
        }
    }

    private mutating func escape(into text: inout String) throws(JSON5Error) {
        let start = place
        guard let character = next else { throw wanted("an escaped character") }
        take()
        switch character {
        case "n": text.append("\n")
        case "t": text.append("\t")
        case "r": text.append("\r")
        case "b": text.append("\u{8}")
        case "f": text.append("\u{C}")
        case "v": text.append("\u{B}")
        case "x": text.unicodeScalars.append(try scalar(try unit(2, at: start), at: start))
        case "u": text.unicodeScalars.append(try pair(try unit(4, at: start), at: start))
        case "0"..."9": throw JSON5Error(place: start, rule: "\\ is not followed by a digit; use \\u0000")
        case let character where character.isNewline: break
        case let character: text.append(character)
        }
    }

    /// The number that so many hexadecimal digits spell.
    private mutating func unit(_ count: Int, at start: TextPlace) throws(JSON5Error) -> UInt32 {
        var digits = ""
        while digits.count < count, let digit = next, digit.isHexDigit, digit.isASCII { digits.append(take()) }
        guard digits.count == count, let unit = UInt32(digits, radix: 16) else {
            throw JSON5Error(place: start, rule: "\\x is followed by two and \\u by four hexadecimal digits")
        }
        return unit
    }

    /// A character that may take two units of UTF-16.
    private mutating func pair(_ first: UInt32, at start: TextPlace) throws(JSON5Error) -> Unicode.Scalar {
        guard (0xD800...0xDBFF).contains(first), take("\\"), take("u") else { return try scalar(first, at: start) }
        let second = try unit(4, at: start)
        guard (0xDC00...0xDFFF).contains(second) else { return try scalar(first, at: start) }
        return try scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), at: start)
    }

    private func scalar(_ number: UInt32, at start: TextPlace) throws(JSON5Error) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(number) else {
            throw JSON5Error(place: start, rule: "the escape stands for half a character")
        }
        return scalar
    }
}
