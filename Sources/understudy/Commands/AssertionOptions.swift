import Control
import Encoding
import JOSE

/// The options by which a command names who speaks for a confidential client.
enum AssertionOptions {
    static let specs: [OptionSpec] = [
        .one(
            "assertion-key", "FILE",
            help: "a confidential client's private key (PEM, DER or JWK) to mint client assertions with"),
        .one("assertion-kid", "KID", help: "the kid that key is registered under; its own or its thumbprint when none"),
        .one("assertion-command", "COMMAND", help: "a command that reads the request as JSON and prints an assertion"),
        .one("assertion-url", "URL", help: "a backend that answers the request with {\"client_assertion\": …}"),
    ]

    /// The provider as the control API's document; nil where none was named.
    static func provider(_ parsed: ParsedArguments) throws(CommandFailure) -> JSON? {
        let named = ["assertion-key", "assertion-command", "assertion-url"].filter(parsed.has)
        guard let name = named.first else {
            guard !parsed.has("assertion-kid") else {
                throw .badValue("assertion-kid", "--assertion-kid goes with --assertion-key")
            }
            return nil
        }
        guard named.count == 1 else {
            throw .badValue(named[1], "--\(named[1]) and --\(name) cannot both be given")
        }
        let value = parsed.required(name)
        switch name {
        case "assertion-command": return ["command": .string(value)]
        case "assertion-url": return ["url": .string(value)]
        default:
            var document = JSONObject([("key", .string(try KeyFile.text(value, option: name)))])
            document["kid"] = parsed["assertion-kid"].map(JSON.string)
            return .object(document)
        }
    }

    /// Registers the provider for the phone's refresh and sign-out, where one was named.
    static func register(
        _ parsed: ParsedArguments, device: String, _ control: ControlClient
    ) async throws(CommandFailure) {
        guard let provider = try provider(parsed) else { return }
        let path = Path.device(device) + "/client-assertion-provider"
        _ = try await calling { () throws(ControlFailure) in
            try await control.document("PUT", path, body: provider)
        }
    }
}

/// Private keys in files that a person names.
enum KeyFile {
    private static let longest = 64 << 10

    /// A key as the control API takes it: PEM or JWK; DER is put into the form of PEM.
    static func text(_ path: String, option: String) throws(CommandFailure) -> String {
        let content = try content(path, option: option)
        let isText = content.allSatisfy { (0x20...0x7E).contains($0) || (0x09...0x0D).contains($0) }
        if isText { return String(decoding: content, as: UTF8.self) }
        return "-----BEGIN PRIVATE KEY-----\n\(Base64.encode(content))\n-----END PRIVATE KEY-----\n"
    }

    /// A key, read here and now.
    static func key(_ path: String, option: String) throws(CommandFailure) -> SigningKeyFile {
        let content = try content(path, option: option)
        do throws(JOSEError) {
            return try SigningKeyFile(content: content)
        } catch {
            throw .badValue(option, "--\(option): \(path) holds no usable private key: \(error.description)")
        }
    }

    private static func content(_ path: String, option: String) throws(CommandFailure) -> [UInt8] {
        guard let content = PrivateFile.read(path, limit: longest), !content.isEmpty else {
            throw .badValue(option, "--\(option): cannot read \(path)")
        }
        return content
    }
}
