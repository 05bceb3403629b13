/// Reads field lines up to the empty line: a header section or a trailer section (RFC 9112 section 5).
struct FieldSectionReader: Sendable {
    private var fields = HTTPFields()
    private var octets = 0

    /// Reads as many whole lines as there are; gives the fields once the empty line was read, and starts afresh.
    mutating func read(
        from queue: inout ByteQueue, limits: HTTPLimits
    ) throws(HTTPFault) -> HTTPFields? {
        while true {
            switch queue.takeLine(limit: limits.fieldLine) {
            case .incomplete: return nil
            case .tooLong: throw .fieldLineTooLong(limit: limits.fieldLine)
            case .bareLineFeed: throw .bareLineFeed
            case .line(let range):
                if range.isEmpty {
                    let complete = fields
                    self = FieldSectionReader()
                    return complete
                }
                octets += range.count
                guard octets <= limits.fieldBytes else { throw .fieldsTooLarge(limit: limits.fieldBytes) }
                guard fields.count < limits.fieldCount else { throw .tooManyFields(limit: limits.fieldCount) }
                let field = try Self.field(queue.storage.span.extracting(range))
                fields.append(field.name, field.value)
            }
        }
    }

    /// Reads one field line.
    private static func field(_ line: Span<UInt8>) throws(HTTPFault) -> HTTPField {
        guard !Byte.isBlank(line[0]) else { throw .foldedFieldLine }
        let token = ByteSet.token
        var colon = 0
        while colon < line.count, token.contains(line[colon]) { colon += 1 }
        guard colon < line.count, line[colon] == Byte.colon, colon > 0 else { throw nameFault(line, stop: colon) }
        let name = ASCIIText.text(line.extracting(..<colon))
        let value = try value(line.extracting((colon + 1)...), name: name)
        return HTTPField(name: name, value: value)
    }

    /// Says which rule a line broke whose token is followed by something else than a colon.
    private static func nameFault(_ line: Span<UInt8>, stop: Int) -> HTTPFault {
        var colon = stop
        while colon < line.count, line[colon] != Byte.colon { colon += 1 }
        for index in 0..<colon where line[index] == Byte.carriageReturn { return .bareCarriageReturn }
        guard colon < line.count else { return .missingColon }
        return stop > 0 && Byte.isBlank(line[stop]) ? .blankBeforeColon : .malformedFieldName
    }

    private static func value(_ bytes: Span<UInt8>, name: String) throws(HTTPFault) -> String {
        for index in bytes.indices where !Byte.isText(bytes[index]) {
            throw bytes[index] == Byte.carriageReturn ? .bareCarriageReturn : .malformedFieldValue(name: name)
        }
        var start = 0
        var end = bytes.count
        while start < end, Byte.isBlank(bytes[start]) { start += 1 }
        while end > start, Byte.isBlank(bytes[end - 1]) { end -= 1 }
        return ASCIIText.text(bytes.extracting(start..<end))
    }
}
