public import HTTP

/// The control API of this process: a command without a daemon calls the daemon's own handler.
extension ControlAPI: ControlPort {
    /// Answers the request at once; there is always an answer.
    public func call(_ request: HTTPRequest) async throws(ControlPortError) -> HTTPResponse {
        await respond(to: request)
    }
}
