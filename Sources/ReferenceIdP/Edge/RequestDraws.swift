import Crypto
import Encoding
import HTTP

/// What requests draw their randomness from.
///
/// In a run that repeats, each request draws from a stretch of its own, named by its bytes: what one phone gets then
/// does not depend on which other phone asked first. A request that comes again byte by byte is told from the first by
/// a count. Everywhere else there is one stream for all.
struct RequestDraws: Sendable {
    /// More requests than any scenario makes; beyond it the counts of the oldest begin anew.
    static let remembered = 65_536

    private var stream: EntropyStream
    private var counts: [[UInt8]: Int] = [:]
    private var order: [[UInt8]] = []
    private var oldest = 0

    init(_ stream: EntropyStream) { self.stream = stream }

    /// The name of a request's stretch: the hash of everything a server sees of it.
    static func label(of request: HTTPRequest, surface: IdPSurface) -> [UInt8] {
        var text = Array("\(surface)\n\(request.method) \(request.target)\n".utf8)
        for field in request.fields { text += Array("\(field.name): \(field.value)\n".utf8) }
        return SHA256.hash(text + [0x0A] + request.body)
    }

    /// Does some work with what a request draws from; nil for a run that does not repeat.
    mutating func drawing<Result>(for label: [UInt8]?, _ work: (inout EntropyStream) -> Result) -> Result {
        guard let label else { return work(&stream) }
        var stretch = stream.derived("request \(Hex.encode(label)) \(count(label))")
        return work(&stretch)
    }

    private mutating func count(_ label: [UInt8]) -> Int {
        let before = counts[label] ?? 0
        counts[label] = before + 1
        guard before == 0 else { return before }
        if order.count < Self.remembered {
            order.append(label)
        } else {
            counts[order[oldest]] = nil
            order[oldest] = label
            oldest = (oldest + 1) % order.count
        }
        return before
    }
}
