import Control
import Encoding
import HTTP
import Transport

/// A run as JSON lines, unredacted: one object for each request and each response, in the order they happened.
enum Transcript {
    /// Writes the transcript, for its owner's eyes only.
    static func write(_ exchanges: [Exchange], to path: String) throws(CommandFailure) {
        let lines = exchanges.flatMap { Self.lines($0) }.map { $0.text + "\n" }.joined()
        do throws(PrivateFileError) {
            try PrivateFile.write(Array(lines.utf8), to: path)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description, field: "trace")
        }
    }

    /// The lines of one exchange; one whose answer was lost has a request only.
    static func lines(_ exchange: Exchange) -> [JSON] {
        let request = exchange.request
        let sent: JSON = [
            "kind": "request", "method": .string(request.method), "url": .string(request.url.text),
            "headers": headers(request.fields), "body_b64u": .string(Base64URL.encode(request.body)),
        ]
        guard let response = exchange.response else { return [sent] }
        let received: JSON = [
            "kind": "response", "status": .int(Int64(response.status)), "headers": headers(response.fields),
            "body_b64u": .string(Base64URL.encode(response.body)),
        ]
        return [sent, received]
    }

    private static func headers(_ fields: HTTPFields) -> JSON {
        .array(fields.map { [.string($0.name), .string($0.value)] })
    }
}
