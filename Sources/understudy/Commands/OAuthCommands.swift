import Control
import Encoding
import SignIn

/// `understudy oauth …`: bound tokens from any standard authorization server.
enum OAuthCommands {
    static let specs = [
        CommandSpec(
            "oauth login", "sign in at any standard authorization server: code, PKCE, DPoP",
            options: [
                .one("device", "D", required: true, help: "the phone"), issuer,
                .one("client", "C", required: true, help: "the client_id, of a public client"),
                .one(
                    "redirect-uri", "U", standard: BrowserDoor.standardRedirectURI,
                    help: "where the server sends the browser back to, as registered"),
                .many("scope", "S", help: "a scope to ask for; the server's choice when none"),
                .one("resource", "R", help: "the API the token is for"),
                .one("hint", "H", help: "login_hint: who is to sign in"),
                .flag("browser", help: "print the address for a browser, and wait for it on loopback"),
                .many("fault", "FAULT:CALL[:N]", help: "what to break, at: authorize, token, revocation"),
                .flag("show-tokens", help: "print the tokens themselves"),
            ] + ClientAttestationOptions.specs,
            notes: [
                "without --browser the phone asks for the pages itself: that is enough for a server that approves by "
                    + "itself, not for one that shows a form",
                "with --browser and no --redirect-uri the system picks a port of 127.0.0.1 (RFC 8252)",
                "exit code 0: signed in; 1: failed, with the reason",
            ], action: login),
        CommandSpec(
            "oauth register", "register a public client, where the server offers it (RFC 7591)",
            options: [
                issuer,
                .many(
                    "redirect-uri", "U", standard: BrowserDoor.standardRedirectURI,
                    help: "where the server may send browsers back to"),
                .one("name", "N", standard: "Understudy", help: "what people are shown"),
                .many("scope", "S", help: "a scope the client will ask for"),
            ], action: register),
    ]

    private static let issuer = OptionSpec.one(
        "issuer", "I", required: true, help: "the authorization server, such as https://as.example")

    private static func login(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject([
            ("system", "oauth"), ("issuer", .string(parsed.required("issuer"))),
            ("client_id", .string(parsed.required("client"))), ("browser", .bool(parsed.has("browser"))),
        ])
        body["redirect_uri"] = parsed["redirect-uri"].map(JSON.string)
        body["scopes"] = scopes(parsed)
        body["resource"] = parsed["resource"].map(JSON.string)
        body["login_hint"] = parsed["hint"].map(JSON.string)
        if parsed["fault"] != nil { body["faults"] = .array(Words.divided(parsed.all("fault")).map(JSON.string)) }
        try ClientAttestationOptions.add(to: &body, parsed)
        let path = Path.device(parsed.required("device")) + "/flows"
        let control = try await context.control()
        let flow = try await calling { () throws(ControlFailure) in try await control.post(path, .object(body)) }
        let follower = FlowFollower(control: control, output: context.output, narrator: context.narrator)
        let end = try await follower.follow(flow, showTokens: parsed.has("show-tokens"))
        return FlowEnding.tell(end, context.output)
    }

    private static func register(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        var body = JSONObject([("issuer", .string(parsed.required("issuer")))])
        let redirectURIs = parsed.all("redirect-uri")
        if !redirectURIs.isEmpty { body["redirect_uris"] = .array(redirectURIs.map(JSON.string)) }
        body["client_name"] = parsed["name"].map(JSON.string)
        body["scopes"] = scopes(parsed)
        let control = try await context.control()
        let client = try await calling { () throws(ControlFailure) in
            try await control.post("/v1/clients", .object(body))
        }
        context.output.result(client, lines: lines(client))
        return .done
    }

    private static func scopes(_ parsed: ParsedArguments) -> JSON? {
        let scopes = parsed.all("scope").flatMap { $0.split(separator: " ").map { JSON.string(String($0)) } }
        return scopes.isEmpty ? nil : .array(scopes)
    }

    private static func lines(_ client: JSON) -> [String] {
        var pairs = [("client id", client.shown("client_id")), ("issuer", client.shown("issuer"))]
        pairs += client.list("redirect_uris").map { ("redirect URI", $0) }
        if client["scope"] != nil { pairs.append(("scope", client.shown("scope"))) }
        let method = client.shown("token_endpoint_auth_method")
        if method != "none" { pairs.append(("but", "the server wants \(method), and this program is a public client")) }
        return Columns.pairs(pairs, indent: 0)
    }
}
