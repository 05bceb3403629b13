/// How the end of a body is found (RFC 9112 section 6.3).
enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked
    /// A response body that ends when the server closes.
    case untilClose

    /// What the framing fields say; nil when there are none.
    ///
    /// Every combination that two parsers could read differently is refused, also where RFC 9112 lets a recipient
    /// mend it (equal repeated lengths, Transfer-Encoding winning over Content-Length).
    static func announced(
        by fields: HTTPFields, version: HTTPVersion, limits: HTTPLimits
    ) throws(HTTPFault) -> BodyFraming? {
        var lengths = 0
        var length = ""
        var codings: [String] = []
        for field in fields {
            switch field.name.utf8.count {
            case 14 where ASCIIText.equalIgnoringCase(field.name, "Content-Length"):
                lengths += 1
                length = field.value
            case 17 where ASCIIText.equalIgnoringCase(field.name, "Transfer-Encoding"):
                codings.append(field.value)
            default: continue
            }
        }
        if lengths == 0 && codings.isEmpty { return nil }
        guard lengths == 0 || codings.isEmpty else { throw .contentLengthWithTransferEncoding }
        guard codings.isEmpty else {
            try checkCodings(codings, version: version)
            return .chunked
        }
        guard lengths == 1 else { throw .repeatedContentLength }
        return .length(try parseLength(length, limits: limits))
    }

    private static func checkCodings(_ values: [String], version: HTTPVersion) throws(HTTPFault) {
        guard version == .http11 else { throw .transferEncodingInHTTP10 }
        var chunked = 0
        var others = 0
        for value in values {
            for member in value.utf8.split(separator: Byte.comma, omittingEmptySubsequences: false) {
                let coding = ASCIIText.trimmed(Substring(member))
                let name = coding.prefix { $0 != ";" }
                guard ByteSet.token.isMadeOf(ASCIIText.trimmed(name)) else { throw .malformedTransferEncoding }
                if ASCIIText.equalIgnoringCase(String(coding), "chunked") { chunked += 1 } else { others += 1 }
            }
        }
        guard others == 0 else { throw .unsupportedTransferCoding }
        guard chunked == 1 else { throw .malformedTransferEncoding }
    }

    private static func parseLength(_ text: String, limits: HTTPLimits) throws(HTTPFault) -> Int {
        guard !text.utf8.contains(Byte.comma) else { throw .repeatedContentLength }
        guard (1...19).contains(text.utf8.count), text.utf8.allSatisfy(Byte.isDigit), let length = Int(text)
        else { throw .malformedContentLength }
        guard length <= limits.body else { throw .bodyTooLarge(limit: limits.body) }
        return length
    }
}
