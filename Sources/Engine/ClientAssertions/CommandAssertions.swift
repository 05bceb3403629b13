import Encoding

/// Asks a command: the request stands on its standard input as JSON, and what it prints is the assertion.
///
/// It runs under `/bin/sh -c` with this process's environment. No time, no output or another exit code than 0 is
/// `Unavailable`; what it said on standard error is told then, and never what it printed.
struct CommandAssertions: ClientAssertionProvider {
    /// Longest a command may take, in milliseconds.
    static let patience = 10_000
    let kind = "command"
    private let command: String
    private let timeoutMilliseconds: Int

    init(_ command: String, timeoutMilliseconds: Int = Self.patience) {
        self.command = command
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    func clientAssertion(for request: ClientAssertionRequest) async throws(ClientAssertionError) -> String {
        try await answer(to: request.json)
    }

    /// What the command prints for a request, whatever is asked for.
    func answer(to request: JSON) async throws(ClientAssertionError) -> String {
        let run = await CommandRun.shell(
            command, input: request.serialized(), timeoutMilliseconds: timeoutMilliseconds)
        switch run {
        case .notStarted(let why): throw .unavailable(details: "the command does not start: \(why)")
        case .tooLate(let said):
            throw .unavailable(details: "the command took over \(timeoutMilliseconds) ms" + told(said, but: []))
        case .ended(let code, let printed, let said):
            guard code == 0 else {
                throw .unavailable(details: "the command exited with \(code)" + told(said, but: printed))
            }
            guard !printed.isEmpty else {
                throw .unavailable(details: "the command printed nothing" + told(said, but: []))
            }
            return try GivenAssertion(printed, from: "the command").compact
        }
    }

    /// What the command said on standard error, on one line, without anything that could be an assertion.
    private func told(_ said: [UInt8], but printed: [UInt8]) -> String {
        let text = String(decoding: said, as: UTF8.self)
        let secret = String(decoding: printed, as: UTF8.self)
        let words = text.split(whereSeparator: \.isWhitespace).map { word in
            Self.couldBeAssertion(word) || (!secret.isEmpty && secret.contains(word) && word.count > 8)
                ? "‹hidden›" : String(word)
        }
        return words.isEmpty ? "" : ": " + words.joined(separator: " ").prefix(400)
    }

    private static func couldBeAssertion(_ word: Substring) -> Bool {
        word.count > 32 && word.contains("eyJ")
    }
}
