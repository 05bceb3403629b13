public import Encoding
internal import HTTP

/// Calls the control API in JSON and turns refusals into errors.
public struct ControlClient: Sendable {
    /// The nesting accepted in the API's documents: a claim set of an IdP within a step within a flow.
    private static let depthLimit = 48

    /// What the calls go through.
    public let port: any ControlPort

    /// Makes a client on a port.
    public init(_ port: any ControlPort) { self.port = port }

    /// Asks for a document.
    public func get(_ path: String, _ query: [(String, String)] = []) async throws(ControlFailure) -> JSON {
        try await document("GET", path, query)
    }

    /// Sends a document, or nothing, and reads the answer; an answer without a body is `null`.
    public func post(_ path: String, _ body: JSON? = nil) async throws(ControlFailure) -> JSON {
        try await document("POST", path, body: body)
    }

    /// Makes any call of the API.
    ///
    /// Throws ``ControlFailure``: nobody answered, the API refused, or the answer is none of the API's.
    public func document(
        _ method: String, _ path: String, _ query: [(String, String)] = [], body: JSON? = nil
    ) async throws(ControlFailure) -> JSON {
        try await answer(method, path, query, body: body).document
    }

    /// Makes any call of the API and tells the status as well.
    public func answer(
        _ method: String, _ path: String, _ query: [(String, String)] = [], body: JSON? = nil
    ) async throws(ControlFailure) -> (status: Int, document: JSON) {
        let text = query.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }.joined(separator: "&")
        var request = HTTPRequest(method: method, target: path + (text.isEmpty ? "" : "?\(text)"))
        if let body {
            request.fields = ["Content-Type": "application/json"]
            request.body = body.serialized()
        }
        let response: HTTPResponse
        do throws(ControlPortError) {
            response = try await port.call(request)
        } catch {
            throw .noAnswer(error)
        }
        let document = try Self.read(response, of: "\(method) \(path)")
        guard (200..<300).contains(response.status) else {
            throw .refused(ControlRefusal(status: response.status, document: document))
        }
        return (response.status, document)
    }

    private static func read(_ response: HTTPResponse, of call: String) throws(ControlFailure) -> JSON {
        if response.body.isEmpty { return .null }
        do throws(JSONError) {
            return try JSON(parsing: response.body, depthLimit: depthLimit)
        } catch {
            throw .notTheAPI(call: call, status: response.status, reason: error.description)
        }
    }
}

/// A refusal of the control API or of a reference IdP's management API (RFC 9457).
public struct ControlRefusal: Sendable, Equatable {
    /// The HTTP status.
    public let status: Int
    /// The stable name of the problem, such as `not_found`.
    public let code: String
    /// What is wrong, in a sentence.
    public let detail: String
    /// The field at fault.
    public let field: String?
    /// The rule that was broken.
    public let rule: String?

    /// Reads a problem document; what it lacks is filled in from the status.
    public init(status: Int, document: JSON) {
        self.status = status
        let type = document["type"]?.string?.split(separator: ":").last.map(String.init)
        code = document["code"]?.string ?? type ?? "status_\(status)"
        detail = document["detail"]?.string ?? document["title"]?.string ?? "answered \(status)"
        field = document["field"]?.string
        rule = document["rule"]?.string
    }
}

/// Why a call of the control API gave no document.
public enum ControlFailure: Error, Sendable, Equatable {
    /// Nobody answered.
    case noAnswer(ControlPortError)
    /// The API refused.
    case refused(ControlRefusal)
    /// Something answered that is not the control API.
    case notTheAPI(call: String, status: Int, reason: String)
}
