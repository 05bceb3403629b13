import HTTP

/// All that a decoder said about some bytes, with adjoining pieces of a body put together.
///
/// Two transcripts of the same bytes must be equal however the bytes were cut: that is the promise of the codec, and
/// `tools/fuzz-http` checks it with this same code.
struct Transcript: Equatable {
    enum Step: Equatable {
        case interim(HTTPResponseHead)
        case request(HTTPRequestHead)
        case response(HTTPResponseHead)
        case body([UInt8])
        case end(HTTPFields)
    }

    var steps: [Step] = []
    var fault: HTTPFault?

    /// Feeds a request decoder piece by piece, closes, and writes down what it says.
    static func ofRequests(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()) -> Transcript {
        var decoder = RequestDecoder(limits: limits)
        var transcript = Transcript()
        do throws(HTTPFault) {
            for piece in pieces {
                decoder.feed(piece)
                while let output = try decoder.next() { transcript.add(output) }
            }
            try decoder.finish()
            while let output = try decoder.next() { transcript.add(output) }
        } catch {
            transcript.fault = error
        }
        return transcript
    }

    /// Feeds a response decoder that awaits answers to `methods`, closes, and writes down what it says.
    static func ofResponses(
        _ pieces: [[UInt8]], to methods: [String] = ["GET"], limits: HTTPLimits = HTTPLimits()
    ) -> Transcript {
        var decoder = ResponseDecoder(limits: limits)
        for method in methods { decoder.expect(method) }
        var transcript = Transcript()
        do throws(HTTPFault) {
            for piece in pieces {
                decoder.feed(piece)
                while let output = try decoder.next() { transcript.add(output) }
            }
            try decoder.finish()
            while let output = try decoder.next() { transcript.add(output) }
        } catch {
            transcript.fault = error
        }
        return transcript
    }

    /// The whole requests in the transcript.
    var requests: [HTTPRequest] {
        var requests: [HTTPRequest] = []
        var current: HTTPRequest?
        for step in steps {
            switch step {
            case .request(let head):
                current = HTTPRequest(
                    method: head.method, target: head.target, fields: head.fields, version: head.version)
            case .body(let bytes): current?.body = bytes
            case .end(let trailers):
                current?.trailers = trailers
                if let whole = current.take() { requests.append(whole) }
            case .interim, .response: break
            }
        }
        return requests
    }

    /// The whole responses in the transcript.
    var responses: [HTTPResponse] {
        var responses: [HTTPResponse] = []
        var current: HTTPResponse?
        for step in steps {
            switch step {
            case .response(let head):
                current = HTTPResponse(
                    status: head.status, reason: head.reason, fields: head.fields, version: head.version)
            case .body(let bytes): current?.body = bytes
            case .end(let trailers):
                current?.trailers = trailers
                if let whole = current.take() { responses.append(whole) }
            case .interim, .request: break
            }
        }
        return responses
    }

    private mutating func add(_ output: RequestDecoder.Output) {
        switch output {
        case .head(let head): steps.append(.request(head))
        case .body(let bytes): addBody(bytes)
        case .end(let trailers): steps.append(.end(trailers))
        }
    }

    private mutating func add(_ output: ResponseDecoder.Output) {
        switch output {
        case .interim(let head): steps.append(.interim(head))
        case .head(let head): steps.append(.response(head))
        case .body(let bytes): addBody(bytes)
        case .end(let trailers): steps.append(.end(trailers))
        }
    }

    private mutating func addBody(_ bytes: [UInt8]) {
        precondition(!bytes.isEmpty, "a decoder gave an empty piece of a body")
        guard case .body(let before) = steps.last else {
            steps.append(.body(bytes))
            return
        }
        steps.removeLast()
        steps.append(.body(before + bytes))
    }
}

/// Ways to cut bytes into pieces.
enum Cut {
    static func bytewise(_ bytes: [UInt8]) -> [[UInt8]] { bytes.map { [$0] } }

    static func at(_ place: Int, _ bytes: [UInt8]) -> [[UInt8]] {
        [Array(bytes[..<place]), Array(bytes[place...])]
    }

    static func randomly(_ bytes: [UInt8], _ dice: inout some RandomNumberGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...24, using: &dice))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}

/// A small repeatable source of random numbers for properties (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
