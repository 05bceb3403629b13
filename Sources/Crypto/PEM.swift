import Encoding

/// The text form of DER (RFC 7468).
enum PEM {
    /// One block of a text.
    struct Block {
        let label: String
        /// The lines in between, joined.
        let content: String
        /// Whether lines of the old encrypted form (RFC 1421) stand before the content.
        let hasHeaders: Bool
    }

    static func encode(_ der: [UInt8], label: String) -> String {
        var lines = ["-----BEGIN \(label)-----"]
        var rest = Substring(Base64.encode(der))
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        lines.append("-----END \(label)-----\n")
        return lines.joined(separator: "\n")
    }

    /// The blocks of a text that are closed, in order; whatever stands between them is passed over.
    static func blocks(in text: String) -> [Block] {
        var blocks: [Block] = []
        var label: String?
        var lines: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = String(line).trimmed
            if let opened = line.between("-----BEGIN ", "-----") {
                (label, lines) = (opened, [])
            } else if let closed = line.between("-----END ", "-----") {
                if label == closed { blocks.append(block(closed, lines)) }
                label = nil
            } else {
                lines.append(line)
            }
        }
        return blocks
    }

    private static func block(_ label: String, _ lines: [String]) -> Block {
        Block(label: label, content: lines.joined(), hasHeaders: lines.contains { $0.contains(":") })
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }

    fileprivate func between(_ start: String, _ end: String) -> String? {
        guard hasPrefix(start), hasSuffix(end), count >= start.count + end.count else { return nil }
        return String(dropFirst(start.count).dropLast(end.count))
    }
}
