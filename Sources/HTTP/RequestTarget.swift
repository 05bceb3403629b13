/// The rules for request targets (RFC 9112 section 3.2).
enum RequestTarget {
    /// Checks that a raw target has a form that its method allows.
    static func check(_ target: Span<UInt8>, method: String) throws(HTTPFault) {
        try checkCharacters(target)
        if method == "CONNECT" {
            guard let authority = Authority(ASCIIText.text(target)), authority.port != nil else {
                throw .wrongTargetForm
            }
            return
        }
        if target[0] == Byte.slash { return }
        if target.count == 1, target[0] == 0x2A {
            guard method == "OPTIONS" else { throw .wrongTargetForm }
            return
        }
        let text = ASCIIText.text(target)
        guard let rest = afterScheme(text) else { throw .wrongTargetForm }
        let authority = rest.utf8.prefix { $0 != Byte.slash && $0 != Byte.question }
        guard Authority(String(Substring(authority))) != nil else { throw .malformedTarget }
    }

    private static func checkCharacters(_ target: Span<UInt8>) throws(HTTPFault) {
        let allowed = ByteSet.target
        guard !target.isEmpty else { throw .malformedRequestLine }
        var index = 0
        while index < target.count {
            if allowed.contains(target[index]) {
                index += 1
                continue
            }
            guard target[index] == Byte.percent, index + 2 < target.count, Byte.hexValue(target[index + 1]) != nil,
                Byte.hexValue(target[index + 2]) != nil
            else { throw .malformedTarget }
            index += 3
        }
    }

    /// What follows `http://` or `https://`; nil when the text starts otherwise.
    static func afterScheme(_ text: String) -> Substring? {
        for scheme in ["http://", "https://"] {
            let end = text.utf8.index(text.startIndex, offsetBy: scheme.utf8.count, limitedBy: text.endIndex)
            guard let end, ASCIIText.equalIgnoringCase(String(text[..<end]), scheme) else { continue }
            return text[end...]
        }
        return nil
    }

    /// Cuts a raw target into authority (absolute form only), path and query, copying nothing.
    static func split(_ target: String) -> (authority: Substring?, path: Substring, query: Substring?) {
        var rest = target[...]
        var authority: Substring?
        if target.utf8.first != Byte.slash, let after = afterScheme(target) {
            let end = after.utf8.firstIndex { $0 == Byte.slash || $0 == Byte.question } ?? after.endIndex
            authority = after[..<end]
            rest = after[end...]
        }
        let mark = rest.utf8.firstIndex(of: Byte.question)
        var path = rest[..<(mark ?? rest.endIndex)]
        if path.isEmpty, authority != nil { path = "/" }
        return (authority, path, mark.map { rest[rest.utf8.index(after: $0)...] })
    }
}
