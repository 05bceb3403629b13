/// A request line, checked.
struct RequestLine: Sendable {
    let method: String
    let target: String
    let version: HTTPVersion

    /// Reads a request line without its CRLF (RFC 9112 section 3).
    init(_ line: Span<UInt8>, limits: HTTPLimits) throws(HTTPFault) {
        guard let first = line.firstIndex(of: Byte.space), let last = line.lastIndex(of: Byte.space), first < last
        else { throw line.containsCarriageReturn ? .bareCarriageReturn : .malformedRequestLine }
        let name = line.extracting(..<first)
        let target = line.extracting((first + 1)..<last)
        guard !line.containsCarriageReturn else { throw .bareCarriageReturn }
        guard ByteSet.token.isMadeOf(name) else { throw .malformedMethod }
        guard target.firstIndex(of: Byte.space) == nil else { throw .malformedRequestLine }
        version = try HTTPVersion.read(line.extracting((last + 1)...))
        guard name.count <= limits.method else { throw .methodTooLong(limit: limits.method) }
        method = ASCIIText.text(name)
        try RequestTarget.check(target, method: method)
        self.target = ASCIIText.text(target)
    }
}

/// A status line, checked.
struct StatusLine: Sendable {
    let version: HTTPVersion
    let status: Int
    let reason: String?

    /// Reads a status line without its CRLF (RFC 9112 section 4); the reason and the blank before it may be missing.
    init(_ line: Span<UInt8>) throws(HTTPFault) {
        guard !line.containsCarriageReturn else { throw .bareCarriageReturn }
        guard line.count >= 12, line[8] == Byte.space else { throw .malformedStatusLine }
        version = try HTTPVersion.read(line.extracting(..<8))
        var status = 0
        for index in 9..<12 {
            guard Byte.isDigit(line[index]) else { throw .malformedStatusLine }
            status = status * 10 + Int(line[index] - Byte.zero)
        }
        guard status >= 100, line.count == 12 || line[12] == Byte.space else { throw .malformedStatusLine }
        self.status = status
        let phrase = line.extracting(min(13, line.count)...)
        for index in phrase.indices where !Byte.isText(phrase[index]) { throw .malformedStatusLine }
        reason = phrase.isEmpty ? nil : ASCIIText.text(phrase)
    }
}

extension Span<UInt8> {
    fileprivate func firstIndex(of byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }

    fileprivate func lastIndex(of byte: UInt8) -> Int? {
        for index in indices.reversed() where self[index] == byte { return index }
        return nil
    }

    fileprivate var containsCarriageReturn: Bool { firstIndex(of: Byte.carriageReturn) != nil }
}
