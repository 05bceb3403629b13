import Control
import Crypto
import Encoding
import Engine
import HTTP
import Profiles
import Transport

/// `understudy demo`: a whole sign-in in one process, told call by call.
enum DemoCommand {
    static let spec = CommandSpec(
        "demo", "watch a whole sign-in: a phone and an identity provider in one process",
        options: [
            .one("trace", "FILE", help: "write every request and response there, unredacted, as JSON lines")
        ],
        notes: [
            "Enrols a phone, signs in with two wrong faces and then the right one, and calls an API with the session."
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        // Before anything else, since a person who asked for a trace and gets none has wasted a run.
        if let trace = parsed["trace"] { try Transcript.write([], to: trace) }
        let demo = try await Demo.start(context)
        let outcome = await CommandFailure.caught { () async throws(CommandFailure) in try await demo.play() }
        await demo.end()
        if let trace = parsed["trace"] { try Transcript.write(demo.log.all, to: trace) }
        let document = try outcome.get()
        if context.output.isJSON { context.output.document(document) }
        guard document["result"] == "signed_in" else {
            context.output.note("understudy: the demo did not sign in: \(document.shown("reason"))")
            return .failed
        }
        context.output.say("signed in")
        return .done
    }
}

/// The play: its stage, and its acts in order.
private struct Demo: Sendable {
    static let device = "demo-phone"
    static let email = "ada@example.com"
    static let client = "app_demo"

    let log: ExchangeLog
    private let context: CommandContext
    private let profile: SenseCryptProfile
    private let idp: IdPService
    private let phone: Phone
    private let control: ControlClient
    private let web: HTTPClient

    private var output: Output { context.output }
    private var issuer: String { idp.served.issuers.first ?? "" }

    /// Sets the stage: everything in memory, on ports of loopback that the system chooses.
    static func start(_ context: CommandContext) async throws(CommandFailure) -> Demo {
        let log = ExchangeLog()
        let settled = SeedBook.seeded(context.settings)
        context.output.note(SeedBook.line(settled))
        func entropy(_ stretch: String) -> Entropy {
            settled.seed.map { SeedBook.entropy(seed: $0, stretch: stretch) } ?? .system
        }
        let profile = try context.settings.profile()
        var plan = HostedIdP.Plan(entropy: entropy("demo idp"), profile: profile)
        var settings = EngineSettings()
        settings.client = ClientConfiguration(proxy: .none)
        settings.entropy = entropy("demo phone")
        settings.profile = profile
        settings.observer = { log.record($0, $1) }
        let phone = try Phone.inMemory(settings)
        plan.trust = try phone.attestationTrust()
        return Demo(
            log: log, context: context, profile: profile, idp: try await HostedIdP.start(plan, store: nil),
            phone: phone,
            control: ControlClient(phone), web: HTTPClient(ClientConfiguration(proxy: .none)))
    }

    /// Plays all acts.
    ///
    /// - Returns: the document printed with `--json`.
    func play() async throws(CommandFailure) -> JSON {
        output.say("A phone and a reference IdP in one process; the issuer is \(issuer)")
        let install = try await makePhone()
        let enrolment = try await enrol(install)
        let flow = try await signIn()
        var document = JSONObject([("result", flow["result"] ?? .null)])
        document["reason"] = flow["reason"] ?? flow["cause"]
        document["message"] = flow["message"]
        document["enrolment"] = enrolment
        document["flow"] = try await calling { () throws(ControlFailure) in
            try await control.get(Path.flow(flow["id"]?.string ?? ""))
        }
        guard flow["result"] == "signed_in" else { return .object(document) }
        try await fetchKeys(install)
        document["fetched"] = try await callAPI(install)
        return .object(document)
    }

    /// Clears the stage.
    func end() async {
        await phone.engine.settle(within: 2000)
        phone.engine.close()
        web.close()
        await idp.shutdown()
    }

    private func makePhone() async throws(CommandFailure) -> String {
        let made = try await calling { () throws(ControlFailure) in
            try await control.post("/v1/devices", ["id": .string(Self.device)])
        }
        guard let install = made["install_jkt"]?.string else { throw .unexpectedAnswer("install_jkt") }
        return install
    }

    private func enrol(_ install: String) async throws(CommandFailure) -> JSON {
        act("Enrolment: the phone makes a device key and a face token, and spends a one-time ticket")
        let tenant = ManagedTenant(
            api: try context.connector.remote(idp.served.management),
            id: issuer.split(separator: "/").last.map(String.init) ?? "")
        // Asked for, so that the story has a nonce challenge in it.
        let policy: JSON = ["nonce_on_start": true, "nonce_at_resource": true]
        _ = try await calling { () throws(ControlFailure) in
            try await tenant.api.document("PATCH", tenant.path + "/policy", body: policy)
        }
        guard let ticket = try await IdPTicket.make(for: Self.email, in: tenant)["ticket"] else {
            throw .unexpectedAnswer("ticket")
        }
        let path = Path.device(Self.device) + "/enrolments"
        let body: JSON = ["issuer": .string(issuer), "ticket": ticket]
        return try await told(install, as: ["discovery", "enrolment"]) { () async throws(CommandFailure) in
            try await calling { () throws(ControlFailure) in try await control.post(path, body) }
        }
    }

    private func signIn() async throws(CommandFailure) -> JSON {
        act("Sign-in: two wrong faces, then the right one")
        let body: JSON = [
            "issuer": .string(issuer), "client_id": .string(Self.client), "login_hint": .string(Self.email),
            "scopes": ["openid", "email", "offline_access"], "resource": .string(resource),
            "scans": ["mismatch", "mismatch", "match"],
        ]
        let evidence = Evidence(log, profile, from: log.count)
        let flow = try await calling { () throws(ControlFailure) in
            try await control.post(Path.device(Self.device) + "/flows", body)
        }
        let follower = FlowFollower(
            control: control, output: output,
            narrator: FlowNarrator(style: output.style, verbose: true, evidence: evidence.calls))
        return try await follower.follow(flow, showTokens: false)
    }

    /// Whoever reads the trace can check every token with these.
    private func fetchKeys(_ install: String) async throws(CommandFailure) {
        act("The issuer's keys")
        let metadata = log.all.lazy.compactMap { $0.answerJSON["jwks_uri"]?.string }.first
        guard let url = metadata.flatMap({ try? HTTPURL($0) }) else { throw .unexpectedAnswer("jwks_uri") }
        _ = try await told(install, as: ["keys"]) { () async throws(CommandFailure) in
            let request = ClientRequest(url: url, method: "GET", fields: ["Accept": "application/json"])
            log.record(request, try? await web.send(request))
            return .null
        }
    }

    private func callAPI(_ install: String) async throws(CommandFailure) -> JSON {
        act("A call to the protected API, with the session")
        let body: JSON = ["url": .string(resource + "/accounts")]
        return try await told(install, as: ["api"]) { () async throws(CommandFailure) in
            try await calling { () throws(ControlFailure) in
                try await control.post(Path.device(Self.device) + "/fetch", body)
            }
        }
    }

    private var resource: String { issuer.replacing(idp.served.origin, with: idp.served.api, maxReplacements: 1) }

    /// Does something that no flow has steps of, and tells its exchanges.
    ///
    /// - Parameter names: what the exchanges are called; the last name is for all that follow.
    private func told(
        _ install: String, as names: [String], _ work: () async throws(CommandFailure) -> JSON
    ) async throws(CommandFailure) -> JSON {
        let first = log.count
        let result = await CommandFailure.caught(work)
        let evidence = Evidence(log, profile, from: first)
        var narrator = FlowNarrator(style: output.style, verbose: true, evidence: evidence.calls)
        for (index, exchange) in log.all.dropFirst(first).enumerated() {
            let name = names[min(index, names.count - 1)]
            output.say(narrator.lines(exchange.step(name, install: install)))
        }
        return try result.get()
    }

    private func act(_ title: String) {
        output.say("")
        output.say(output.style.strong(title))
    }
}
