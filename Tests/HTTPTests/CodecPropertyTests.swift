import HTTP
import Testing

/// Promises that hold for all messages, tried on random ones from fixed seeds.
struct CodecPropertyTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random requests come back the same through encoder and decoder under any cut`(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        for _ in 0..<10 {
            let requests = (0..<Int.random(in: 1...4, using: &dice)).map { _ in Random.request(&dice) }
            var bytes: [UInt8] = []
            for request in requests { bytes += try HTTPEncoder.encode(request) }
            let whole = Transcript.ofRequests([bytes])
            #expect(whole.fault == nil)
            #expect(whole.requests.map(Random.unframed) == requests.map(Random.unframed))
            #expect(whole.requests.map(Random.names) == requests.map(Random.names))
            #expect(Transcript.ofRequests(Cut.bytewise(bytes)) == whole)
            for _ in 0..<3 { #expect(Transcript.ofRequests(Cut.randomly(bytes, &dice)) == whole) }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random responses come back the same through encoder and decoder under any cut`(seed: UInt64) throws {
        var dice = Dice(seed: seed &+ 1000)
        for _ in 0..<10 {
            let responses = (0..<Int.random(in: 1...4, using: &dice)).map { _ in Random.response(&dice) }
            var bytes: [UInt8] = []
            for response in responses { bytes += try HTTPEncoder.encode(response) }
            let methods = responses.map { _ in "GET" }
            let whole = Transcript.ofResponses([bytes], to: methods)
            #expect(whole.fault == nil)
            #expect(whole.responses.map(Random.unframed) == responses.map(Random.unframed))
            #expect(Transcript.ofResponses(Cut.bytewise(bytes), to: methods) == whole)
            for _ in 0..<3 { #expect(Transcript.ofResponses(Cut.randomly(bytes, &dice), to: methods) == whole) }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `damaged messages never crash and fail the same under any cut`(seed: UInt64) throws {
        var dice = Dice(seed: seed &+ 2000)
        for _ in 0..<60 {
            var request = try HTTPEncoder.encode(Random.request(&dice))
            Random.damage(&request, &dice)
            let requests = Transcript.ofRequests([request])
            #expect(Transcript.ofRequests(Cut.bytewise(request)) == requests)
            #expect(Transcript.ofRequests(Cut.randomly(request, &dice)) == requests)
            var response = try HTTPEncoder.encode(Random.response(&dice))
            Random.damage(&response, &dice)
            let responses = Transcript.ofResponses([response])
            #expect(Transcript.ofResponses(Cut.bytewise(response)) == responses)
            #expect(Transcript.ofResponses(Cut.randomly(response, &dice)) == responses)
        }
    }

    @Test func `random garbage never crashes`() {
        var dice = Dice(seed: 3)
        let alphabet = Array(
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n0123456789abcdefContent-LengthTransfer-Encodingchunked;=\"\\\t\u{0}ÿ".utf8
        )
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...80, using: &dice)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &dice)]
            }
            #expect(Transcript.ofRequests([bytes]) == Transcript.ofRequests(Cut.bytewise(bytes)))
            #expect(Transcript.ofResponses([bytes]) == Transcript.ofResponses(Cut.bytewise(bytes)))
        }
    }
}

/// Random messages that are valid, and ways to damage them.
private enum Random {
    static func request(_ dice: inout Dice) -> HTTPRequest {
        let method = ["GET", "POST", "PUT", "DELETE", "x-y", "OPTIONS"].randomElement(using: &dice) ?? "GET"
        let target = ["/", "/a%40b?c=%7E", "//x/..", "http://b.test/?q", "/?"].randomElement(using: &dice) ?? "/"
        var fields: HTTPFields = ["hOsT": ["a.test", "[::1]:80", "1.2.3.4:8"].randomElement(using: &dice) ?? "a"]
        addFields(&fields, &dice)
        var request = HTTPRequest(method: method, target: target, fields: fields)
        if Bool.random(using: &dice) { request.body = body(&dice) }
        if Int.random(in: 0..<4, using: &dice) == 0 { request.trailers = ["X-Sum": "1", "x-sum": "2"] }
        if Int.random(in: 0..<4, using: &dice) == 0 { request.fields.append("Transfer-Encoding", "chunked") }
        return request
    }

    static func response(_ dice: inout Dice) -> HTTPResponse {
        let status = [200, 201, 204, 304, 400, 401, 500].randomElement(using: &dice) ?? 200
        var fields: HTTPFields = [:]
        addFields(&fields, &dice)
        var response = HTTPResponse(status: status, reason: "Some reason", fields: fields)
        guard status != 204, status != 304 else { return response }
        response.body = body(&dice)
        if Int.random(in: 0..<4, using: &dice) == 0 { response.trailers = ["X-Sum": "1"] }
        return response
    }

    /// The message without the fields that the encoder adds.
    static func unframed(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.fields.remove("Content-Length")
        request.fields.remove("Transfer-Encoding")
        return request
    }

    static func unframed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.fields.remove("Content-Length")
        response.fields.remove("Transfer-Encoding")
        return response
    }

    /// The names of the fields as they are written, without those that the encoder adds.
    static func names(_ request: HTTPRequest) -> [String] { unframed(request).fields.map(\.name) }

    static func damage(_ bytes: inout [UInt8], _ dice: inout Dice) {
        let odd: [UInt8] = [0, 9, 10, 13, 32, 34, 43, 44, 48, 58, 59, 128, 255]
        for _ in 0..<Int.random(in: 1...3, using: &dice) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &dice)
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(odd.randomElement(using: &dice) ?? 0, at: place)
            case 2: bytes[place] = odd.randomElement(using: &dice) ?? 0
            default: bytes.removeSubrange(place...)
            }
        }
    }

    private static func addFields(_ fields: inout HTTPFields, _ dice: inout Dice) {
        for _ in 0..<Int.random(in: 0...5, using: &dice) {
            let name = ["X-A", "x-a", "DPoP", "!#$%&'*+-.^_`|~09az"].randomElement(using: &dice) ?? "X"
            let value = ["", "v", "a  b\tc", "grüß", "\"q\\\"\"", ":,;="].randomElement(using: &dice) ?? ""
            fields.append(name, value)
        }
    }

    private static func body(_ dice: inout Dice) -> [UInt8] {
        (0..<Int.random(in: 0...60, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
    }
}
