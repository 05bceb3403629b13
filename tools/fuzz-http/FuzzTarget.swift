/// What libFuzzer calls with every input it makes up; compiled into the module of the codec itself.
///
/// The first octet picks decoder, limits and cuts; the rest is what the peer sends. A broken promise traps.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let bytes = Array(input.dropFirst())
    var limits = HTTPLimits()
    if choice & 1 != 0 { limits = .tight }
    if choice & 2 == 0 {
        checkRequests(bytes, limits: limits, seed: choice)
    } else {
        let methods = choice & 4 == 0 ? ["GET", "HEAD", "GET", "GET"] : ["CONNECT", "GET"]
        checkResponses(bytes, to: methods, limits: limits, seed: choice)
    }
    checkText(String(decoding: bytes, as: UTF8.self))
    return 0
}

extension HTTPLimits {
    /// Limits small enough for short inputs to reach.
    fileprivate static var tight: HTTPLimits {
        var limits = HTTPLimits(body: 24)
        limits.startLine = 40
        limits.fieldLine = 32
        limits.fieldBytes = 80
        limits.fieldCount = 4
        limits.chunkLine = 12
        limits.chunkExtensions = 16
        limits.interimResponses = 2
        return limits
    }
}

private func checkRequests(_ bytes: [UInt8], limits: HTTPLimits, seed: UInt8) {
    let whole = Transcript.ofRequests([bytes], limits: limits)
    var dice = Dice(seed: UInt64(seed) &+ UInt64(bytes.count))
    expect(Transcript.ofRequests(Cut.bytewise(bytes), limits: limits) == whole, "bytewise")
    expect(Transcript.ofRequests(Cut.randomly(bytes, &dice), limits: limits) == whole, "cut")
    for request in whole.requests {
        expect(request.body.count <= limits.body && request.fields.count <= limits.fieldCount, "limits")
        _ = (request.path, request.query, request.authority, request.mediaType, request.description)
        // What was read can be said again, and reads the same. Chunked bodies come back in one chunk.
        guard let again = try? HTTPEncoder.encode(request) else { broken("unsendable") }
        expect(Transcript.ofRequests([again]).requests.map(plain) == [plain(request)], "again")
    }
}

private func checkResponses(_ bytes: [UInt8], to methods: [String], limits: HTTPLimits, seed: UInt8) {
    let whole = Transcript.ofResponses([bytes], to: methods, limits: limits)
    var dice = Dice(seed: UInt64(seed) &+ UInt64(bytes.count))
    expect(Transcript.ofResponses(Cut.bytewise(bytes), to: methods, limits: limits) == whole, "bytewise")
    expect(Transcript.ofResponses(Cut.randomly(bytes, &dice), to: methods, limits: limits) == whole, "cut")
    for response in whole.responses {
        expect(response.body.count <= limits.body && response.fields.count <= limits.fieldCount, "limits")
        guard let head = try? HTTPEncoder.head(response.head) else { broken("unsendable") }
        // Neither question has a body in its answer, and only that to CONNECT has its framing fields ignored.
        let method = methods[0] == "CONNECT" ? "CONNECT" : "HEAD"
        let read = Transcript.ofResponses([head], to: [method]).responses.first
        guard methods[0] != "CONNECT" || response.status < 300 else { continue }
        expect(read?.status == response.status && read?.fields == response.fields, "again")
    }
}

/// The request without what encoding may add: a length for a POST that came without one.
private func plain(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    request.fields.remove("Content-Length")
    return request
}

private func checkText(_ text: String) {
    if let url = try? HTTPURL(text) {
        guard let again = try? HTTPURL(url.text), again == url else { broken("URL") }
        _ = (url.isLoopback, url.authority, url.path, url.query)
    }
    if let type = MediaType(text) {
        expect(MediaType(type.essence)?.essence == type.essence, "media type")
    }
}

private func expect(_ holds: Bool, _ promise: String) {
    if !holds { broken(promise) }
}

/// Stops with the name of the promise; `precondition` says nothing in an optimised build.
private func broken(_ promise: String) -> Never { fatalError("broken promise: \(promise)") }
