/// A chunk-size line: the size, and how long the extensions are that are checked and thrown away.
///
/// Grammar (RFC 9112 section 7.1): `1*HEXDIG *( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )`.
struct ChunkLine {
    let size: Int
    let extensionOctets: Int

    /// Leading zeros are allowed, but not so many that a size could hide an endless line.
    private static let longestSize = 16

    init(_ line: Span<UInt8>) throws(HTTPFault) {
        var value = 0
        var index = 0
        while index < line.count, let digit = Byte.hexValue(line[index]) {
            guard index < Self.longestSize, value <= Int.max >> 4 else { throw .malformedChunkSize }
            value = value << 4 | Int(digit)
            index += 1
        }
        size = value
        extensionOctets = line.count - index
        for place in index..<line.count where line[place] == Byte.carriageReturn { throw .bareCarriageReturn }
        guard index > 0 else { throw .malformedChunkSize }
        while index < line.count {
            Self.skipBlanks(line, &index)
            guard index < line.count, line[index] == Byte.semicolon else { throw .malformedChunkSize }
            index += 1
            guard Self.skipExtension(line, &index) else { throw .malformedChunkExtension }
        }
    }

    /// Skips one extension after its semicolon; false when it is not one.
    private static func skipExtension(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        skipBlanks(line, &index)
        guard skipToken(line, &index) else { return false }
        var ahead = index
        skipBlanks(line, &ahead)
        guard ahead < line.count, line[ahead] == Byte.equals else { return true }
        index = ahead + 1
        skipBlanks(line, &index)
        return skipToken(line, &index) || skipQuoted(line, &index)
    }

    private static func skipBlanks(_ line: Span<UInt8>, _ index: inout Int) {
        while index < line.count, Byte.isBlank(line[index]) { index += 1 }
    }

    private static func skipToken(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        let start = index
        let token = ByteSet.token
        while index < line.count, token.contains(line[index]) { index += 1 }
        return index > start
    }

    private static func skipQuoted(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        guard index < line.count, line[index] == Byte.quote else { return false }
        index += 1
        while index < line.count, line[index] != Byte.quote {
            if line[index] == Byte.backslash { index += 1 }
            guard index < line.count, Byte.isText(line[index]) else { return false }
            index += 1
        }
        guard index < line.count else { return false }
        index += 1
        return true
    }
}
