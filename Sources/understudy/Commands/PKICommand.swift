import Control
import Encoding

/// What `signin` says of a key operation, and the shared secret one may leave.
enum PKICommand {
    static let options: [OptionSpec] = [
        .one(
            "pki", "OP", form: .choice(["sign", "public-keys", "decapsulate"]),
            help: "run a key operation with the face scan"),
        .one("context", "TEXT", form: .anything, help: "the operation's context, 0 to 255 bytes; empty when none"),
        .one("context-hex", "HEX", form: .anything, help: "the context as bytes"),
        .one("operand-hex", "HEX", help: "the hash to sign, 32 or 64 bytes, or the encapsulation, 65 bytes"),
        .one("operand-file", "FILE", help: "a file that holds just those bytes"),
        .one("pki-scope", "S", form: .choice(["app", "tenant"]), standard: "app", help: "whose keys"),
        .flag("show-secret", help: "take the shared secret at once and print it"),
    ]

    static let note = """
        a 64-byte hash is signed by its first 32 bytes (ECDSA over P-256); hash it first to bind all of it
        """

    private static let longestOperand = 4096

    /// The `pki` member of the request, nil where no operation is asked for.
    static func request(_ parsed: ParsedArguments) throws(CommandFailure) -> JSON? {
        let others = ["context", "context-hex", "operand-hex", "operand-file", "pki-scope"]
        guard let operation = parsed["pki"] else {
            if let stray = others.first(where: { parsed[$0] != nil })
                ?? (parsed.has("show-secret") ? "show-secret" : nil)
            {
                throw .usage("--\(stray) needs --pki", of: parsed)
            }
            return nil
        }
        var members = JSONObject([("kind", .string(operation == "public-keys" ? "publicKeys" : operation))])
        try one("context", "context-hex", parsed)
        try one("operand-hex", "operand-file", parsed)
        members["context"] = parsed["context"].map(JSON.string)
        members["context_base64url"] = try hex("context-hex", parsed).map(coded)
        members["operand_base64url"] = try operand(parsed).map(coded)
        members["scope"] = parsed["pki-scope"].map(JSON.string)
        return .object(members)
    }

    /// A signed-in flow with its shared secret, which is then taken; other flows as they are.
    static func showingSecret(_ flow: JSON, _ control: ControlClient) async throws(CommandFailure) -> JSON {
        guard flow["shared_secret"]?.string == "available", let id = flow["id"]?.string,
            var members = flow.object
        else { return flow }
        let taken = try await takeSecret(of: id, control)
        members["shared_secret"] = "taken"
        members["shared_secret_hex"] = taken["shared_secret_hex"]
        return .object(members)
    }

    /// Takes the shared secret of a flow.
    static func takeSecret(of flow: String, _ control: ControlClient) async throws(CommandFailure) -> JSON {
        let path = Path.flow(flow) + "/secret"
        let answer = try await calling { () throws(ControlFailure) in try await control.post(path) }
        guard let coded = answer["shared_secret"]?.string, let bytes = try? Base64URL.decode(coded) else {
            throw .unexpectedAnswer("shared secret")
        }
        return ["flow": .string(flow), "shared_secret_hex": .string(Hex.encode(bytes))]
    }

    private static func one(_ first: String, _ second: String, _ parsed: ParsedArguments) throws(CommandFailure) {
        guard parsed[first] != nil, parsed[second] != nil else { return }
        throw .usage("give --\(first) or --\(second), not both", of: parsed)
    }

    private static func operand(_ parsed: ParsedArguments) throws(CommandFailure) -> [UInt8]? {
        guard let path = parsed["operand-file"] else { return try hex("operand-hex", parsed) }
        guard let bytes = PrivateFile.read(path, limit: longestOperand) else {
            throw .badValue("operand-file", "cannot read \(path), or it has more than \(longestOperand) bytes")
        }
        return bytes
    }

    private static func hex(_ name: String, _ parsed: ParsedArguments) throws(CommandFailure) -> [UInt8]? {
        guard let text = parsed[name] else { return nil }
        guard let bytes = try? Hex.decode(text.lowercased()) else {
            throw .badValue(name, "'\(text)' is not an even number of hexadecimal digits")
        }
        return bytes
    }

    private static func coded(_ bytes: [UInt8]) -> JSON { .string(Base64URL.encode(bytes)) }
}

/// What came of a key operation, as lines.
enum PKILines {
    /// The lines of a flow's key operation; none where it ran none.
    static func lines(_ flow: JSON) -> [String] {
        guard let pki = flow["pki"], pki != .null else { return [] }
        var pairs = [("key operation", "\(pki.shown("kind")), scope \(pki.shown("scope"))")]
        pairs.append(("context", hex(pki["context_base64url"]).map { $0.isEmpty ? "empty" : $0 } ?? "-"))
        for key in pki["keys"]?.array ?? [] {
            pairs.append(("key", "\(key.shown("class")) \(hex(key["public_key"]) ?? "-")"))
        }
        if let signature = hex(pki["signature"]) { pairs.append(("signature", signature)) }
        if let secret = flow["shared_secret_hex"] {
            pairs.append(("shared secret", secret.shown))
        } else if let standing = flow["shared_secret"]?.string {
            pairs.append(("shared secret", self.standing(standing, of: flow.shown("id"))))
        }
        return Columns.pairs(pairs, indent: 0)
    }

    private static func standing(_ standing: String, of flow: String) -> String {
        switch standing {
        case "available": "take it, once: understudy flow take-secret \(flow)"
        case "taken": "taken"
        default: "gone: it is kept in memory alone, and its process has ended"
        }
    }

    private static func hex(_ coded: JSON?) -> String? {
        coded?.string.flatMap { try? Base64URL.decode($0) }.map { Hex.encode($0) }
    }
}
