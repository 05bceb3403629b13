import Encoding
import SignIn

extension BodyFields {
    /// The key operation a flow is to run, nil where none is asked for.
    ///
    /// Only the form is judged here. Whether the operation may run is for the flow to say, which ends with its reason.
    func pki() throws(ControlProblem) -> SignInPKIRequest? {
        let names = ["kind", "context", "context_base64url", "operand_base64url", "scope"]
        guard let fields = try object("pki", allowing: names) else { return nil }
        guard let kind: SignInPKIRequest.Kind = try fields.word("kind") else {
            throw .missing("kind", Self.words(SignInPKIRequest.Kind.self))
        }
        return SignInPKIRequest(
            kind: kind, context: try fields.context(), operand: try fields.bytes("operand_base64url"),
            scope: try fields.word("scope") ?? .app)
    }

    private func context() throws(ControlProblem) -> [UInt8] {
        let text = try optionalText("context")
        let bytes = try bytes("context_base64url")
        if text != nil, bytes != nil {
            throw .invalid("context", "either 'context' or 'context_base64url'", got: .string("both"))
        }
        return bytes ?? Array((text ?? "").utf8)
    }

    private func bytes(_ name: String) throws(ControlProblem) -> [UInt8]? {
        guard let coded = try optionalText(name) else { return nil }
        guard coded.utf8.count <= 8192, let bytes = try? Base64URL.decode(coded) else {
            throw .invalid(name, "base64url without padding, at most 8192 characters", got: .string(coded))
        }
        return bytes
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String) throws(ControlProblem) -> Word? {
        guard let text = try optionalString(name, longest: 64) else { return nil }
        guard let word = Word(rawValue: text) else { throw .invalid(name, Self.words(Word.self), got: .string(text)) }
        return word
    }

    private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> String {
        "one of " + type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
