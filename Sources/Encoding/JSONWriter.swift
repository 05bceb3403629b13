extension JSON {
    /// The value as compact UTF-8: no blanks, members in order, `/` as it is.
    public func serialized() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(256)
        JSONWriter.write(self, to: &output)
        return output
    }

    /// The value as compact text.
    public var text: String { String(decoding: serialized(), as: UTF8.self) }

    /// The value over several lines, two blanks a level, for people to read.
    public var prettyText: String {
        var output: [UInt8] = []
        JSONWriter.writePretty(self, level: 0, to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}

private enum JSONWriter {
    static func write(_ value: JSON, to output: inout [UInt8]) {
        switch value {
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(element, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                write(member.value, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        default:
            writeScalar(value, to: &output)
        }
    }

    static func writePretty(_ value: JSON, level: Int, to output: inout [UInt8]) {
        switch value {
        case .array(let elements) where !elements.isEmpty:
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                breakLine(before: index, level: level + 1, in: &output)
                writePretty(element, level: level + 1, to: &output)
            }
            breakLine(before: 0, level: level, in: &output)
            output.append(UInt8(ascii: "]"))
        case .object(let object) where object.count > 0:
            output.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                breakLine(before: index, level: level + 1, in: &output)
                write(member.name, to: &output)
                output.append(contentsOf: ": ".utf8)
                writePretty(member.value, level: level + 1, to: &output)
            }
            breakLine(before: 0, level: level, in: &output)
            output.append(UInt8(ascii: "}"))
        default:
            write(value, to: &output)
        }
    }

    private static func breakLine(before index: Int, level: Int, in output: inout [UInt8]) {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: level * 2))
    }

    private static func writeScalar(_ value: JSON, to output: inout [UInt8]) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let flag): output.append(contentsOf: (flag ? "true" : "false").utf8)
        case .int(let number): output.append(contentsOf: String(number).utf8)
        case .double(let number):
            precondition(number.isFinite, "JSON has no infinity and no NaN")
            output.append(contentsOf: "\(number)".utf8)
        case .string(let text): write(text, to: &output)
        case .array, .object: preconditionFailure("containers are written by write(_:to:)")
        }
    }

    private static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case UInt8(ascii: "\n"): output.append(contentsOf: "\\n".utf8)
            case UInt8(ascii: "\r"): output.append(contentsOf: "\\r".utf8)
            case UInt8(ascii: "\t"): output.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                output.append(contentsOf: "\\u00".utf8)
                output.append(contentsOf: Hex.encode([byte]).utf8)
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
