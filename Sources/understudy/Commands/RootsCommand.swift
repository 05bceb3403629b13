import Control
import Encoding
import Glibc

/// `understudy roots export`: what a server needs to check the phones' evidence.
enum RootsCommand {
    static let spec = CommandSpec(
        "roots export", "write what a server needs to check the phones' attestation evidence",
        options: [.one("dir", "DIR", help: "write a file of each there, and make the directory if need be")],
        notes: [
            """
            The roots are made once for a state directory; with --seed a new directory always gets the same. They \
            are tests: never trust them in production. The Play Integrity decryption key is a secret of the \
            backend's, as it is in the console.
            """
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.control()
        let roots = try await calling { () throws(ControlFailure) in try await control.get("/v1/roots") }
        guard let directory = parsed["dir"] else {
            context.output.result(roots, lines: [roots.prettyText])
            return .done
        }
        let files: [(String, String?)] = [
            ("app-attest-root.pem", roots["apple_root"]?.string),
            ("app-attest-receipt-root.pem", roots["receipt_root"]?.string),
            ("android-root.pem", roots["android_root"]?.string),
            ("play-decryption-key.txt", roots["play_decryption_key"]?.string.map { $0 + "\n" }),
            ("play-verification-key.txt", roots["play_verification_key"]?.string.map { $0 + "\n" }),
            ("attesters.json", roots["attesters"].map { $0.prettyText + "\n" }),
        ]
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw .badValue("dir", "cannot make \(directory): \(String(cString: strerror(errno)))")
        }
        var written: [JSON] = []
        for (name, text) in files {
            guard let text else { throw .unexpectedAnswer("roots") }
            let path = directory + "/" + name
            do throws(PrivateFileError) {
                try PrivateFile.write(Array(text.utf8), to: path)
            } catch {
                throw .badValue("dir", error.description)
            }
            written.append(.string(path))
        }
        context.output.result(["written": .array(written)], lines: written.map { "wrote \($0.shown)" })
        return .done
    }
}
