import HTTP
import Testing

/// Feeds requests whole, byte by byte and cut in two at every place (of a long message: some), and expects one and the same transcript.
func requestTranscript(
    _ bytes: [UInt8], limits: HTTPLimits = HTTPLimits(), at location: SourceLocation = #_sourceLocation
) -> Transcript {
    let whole = Transcript.ofRequests([bytes], limits: limits)
    #expect(Transcript.ofRequests(Cut.bytewise(bytes), limits: limits) == whole, sourceLocation: location)
    for place in cuttingPlaces(bytes.count) {
        let cut = Transcript.ofRequests(Cut.at(place, bytes), limits: limits)
        #expect(cut == whole, "cut at \(place)", sourceLocation: location)
    }
    return whole
}

func requestTranscript(
    _ text: String, limits: HTTPLimits = HTTPLimits(), at location: SourceLocation = #_sourceLocation
) -> Transcript {
    requestTranscript(Array(text.utf8), limits: limits, at: location)
}

/// Feeds responses whole, byte by byte and cut in two at every place (of a long message: some), and expects one and the same transcript.
func responseTranscript(
    _ bytes: [UInt8], to methods: [String] = ["GET"], limits: HTTPLimits = HTTPLimits(),
    at location: SourceLocation = #_sourceLocation
) -> Transcript {
    let whole = Transcript.ofResponses([bytes], to: methods, limits: limits)
    let bytewise = Transcript.ofResponses(Cut.bytewise(bytes), to: methods, limits: limits)
    #expect(bytewise == whole, sourceLocation: location)
    for place in cuttingPlaces(bytes.count) {
        let cut = Transcript.ofResponses(Cut.at(place, bytes), to: methods, limits: limits)
        #expect(cut == whole, "cut at \(place)", sourceLocation: location)
    }
    return whole
}

func responseTranscript(
    _ text: String, to methods: [String] = ["GET"], limits: HTTPLimits = HTTPLimits(),
    at location: SourceLocation = #_sourceLocation
) -> Transcript {
    responseTranscript(Array(text.utf8), to: methods, limits: limits, at: location)
}

/// Every place of a short message; of a long one some all over it and each of the last few.
private func cuttingPlaces(_ length: Int) -> [Int] {
    guard length > 300 else { return Array(0..<length) }
    let spread = stride(from: 0, to: length - 20, by: length / 20)
    return Array(spread) + Array((length - 20)..<length)
}

/// One row of a table of refused messages.
struct Refused: Sendable, CustomTestStringConvertible {
    let name: String
    let message: [UInt8]
    let fault: HTTPFault
    let status: Int

    init(_ name: String, _ message: String, _ fault: HTTPFault, _ status: Int = 400) {
        self.init(name, bytes: Array(message.utf8), fault, status)
    }

    init(_ name: String, bytes: [UInt8], _ fault: HTTPFault, _ status: Int = 400) {
        self.name = name
        self.message = bytes
        self.fault = fault
        self.status = status
    }

    var testDescription: String { name }
}
