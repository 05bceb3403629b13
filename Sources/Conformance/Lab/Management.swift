import Crypto
import Encoding
import HTTP
import JOSE
import Transport

/// What a run made over the management API, to be taken away at its end.
struct Made {
    var users: [String] = []
    var clients: [String] = []
    /// A second public client, opted in.
    var otherClient: String?
    /// A confidential client of the run's own.
    var confidential: ConfidentialClient?
    /// A user of the run's own with a phone.
    var guest: Guest?
    /// A user of the run's own whom devices are enrolled for that nobody signs in with.
    var applicant: String?
    /// Devices that were enrolled, by user and key.
    var devices: [(user: String, kid: String)] = []
    /// Whether the ticket that was given besides was taken.
    var isSpareTicketUsed = false

    /// A user of the run's own, and the phone.
    struct Guest {
        let id: String
        let phone: ProbePhone
    }
}

/// The reference IdP's management API, as far as probes need it.
struct Management {
    private let lab: Lab
    private let base: HTTPURL
    /// The tenant the issuer names.
    let tenant: String

    init(_ lab: Lab) throws(ProbeFault) {
        guard let base = lab.setup.management else { throw .missing("no management API was given: --management URL") }
        self.lab = lab
        self.base = base
        tenant = lab.issuer.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Makes a call; a refused one is a fault of the run's set-up.
    @discardableResult
    func call(_ method: String, _ path: String, _ body: JSON? = nil) async throws(ProbeFault) -> JSON {
        var request = ClientRequest(
            url: try lab.own("an address of the management API") { try base.appending(path: path) }, method: method)
        if let body {
            request.fields = ["Content-Type": "application/json"]
            request.body = body.serialized()
        }
        let answer = Answer(response: try await lab.setup.send(request))
        guard answer.status < 300 else {
            let detail = answer.json?["detail"]?.string ?? "status \(answer.status)"
            throw .missing("the management API refused \(method) \(path): \(detail)")
        }
        return answer.json ?? .null
    }

    /// Makes a call below the tenant.
    @discardableResult
    func ofTenant(_ method: String, _ path: String = "", _ body: JSON? = nil) async throws(ProbeFault) -> JSON {
        try await call(method, "tenants/\(tenant)" + (path.isEmpty ? "" : "/" + path), body)
    }

    /// Changes something, runs the work, and changes it back whatever the work came to.
    func during<Value>(
        _ path: String, _ change: JSON, then back: JSON, _ work: () async throws(ProbeFault) -> Value
    ) async throws(ProbeFault) -> Value {
        try await ofTenant("PATCH", path, change)
        let result: Result<Value, ProbeFault>
        do throws(ProbeFault) { result = .success(try await work()) } catch { result = .failure(error) }
        try await ofTenant("PATCH", path, back)
        return try result.get()
    }
}

extension Lab {
    /// Another public client of the tenant that may do what the application under test may.
    func otherClient() async throws(ProbeFault) -> String {
        if let made = made.otherClient { return made }
        let id = try await newClient([])
        made.otherClient = id
        return id
    }

    /// A client of the run's own, with these fields beside those of the application under test.
    func newClient(_ fields: [(String, JSON)]) async throws(ProbeFault) -> String {
        let management = try Management(self)
        let model = try await management.ofTenant("GET", "applications/\(setup.clientID)")
        var body = JSONObject([("client_id", .string("conform_" + setup.entropy.token(9)))])
        for name in ["scopes", "resources", "redirect_uris", "refresh_token_rotation"] { body[name] = model[name] }
        body["first_party_challenge_enabled"] = true
        for (name, value) in fields { body[name] = value }
        let id = try await management.ofTenant("POST", "applications", .object(body))["client_id"]?.string ?? ""
        made.clients.append(id)
        return id
    }

    /// A user of the run's own, enrolled on a phone of its own.
    func guest() async throws(ProbeFault) -> Made.Guest {
        if let guest = made.guest { return guest }
        guard let newPhone = setup.newPhone else { throw .missing("no further phone can be made here") }
        let user = try await newUser()
        guard let id = user["id"]?.string, let ticket = user["ticket"]?.string else {
            throw .missing("the management API gives no ticket")
        }
        let guest = Made.Guest(id: id, phone: try await newPhone(ticket))
        made.guest = guest
        return guest
    }

    /// A user of the run's own: `id` and a `ticket`.
    func newUser() async throws(ProbeFault) -> JSON {
        let email = "conform-" + Hex.encode(setup.entropy.bytes(6)) + "@understudy.example"
        let user = try await Management(self).ofTenant("POST", "users", ["email": .string(email), "ticket": true])
        if let id = user["id"]?.string { made.users.append(id) }
        return user
    }

    /// A second phone of the guest.
    func secondPhone(of guest: Made.Guest) async throws(ProbeFault) -> ProbePhone {
        guard let newPhone = setup.newPhone else { throw .missing("no further phone can be made here") }
        let made = try await Management(self).ofTenant("POST", "users/\(guest.id)/tickets")
        guard let ticket = made["ticket"]?.string else { throw .missing("the management API gives no ticket") }
        return try await newPhone(ticket)
    }

    /// Lets time pass at the server, runs the work, and puts the clock back.
    ///
    /// Everything that was prepared is too old behind it.
    func later(by seconds: Int64, _ work: () async throws(ProbeFault) -> Void) async throws(ProbeFault) {
        defer {
            forgetStages()
            forgetNonces()
        }
        guard setup.management != nil else {
            guard let wait = setup.wait else {
                throw .missing("time must pass: give --management URL, or --wait")
            }
            await wait(seconds)
            try await renewNonces()
            return try await work()
        }
        let management = try Management(self)
        let before = try await management.call("GET", "clock")
        guard before["mode"]?.string != "frozen" else { throw .missing("the server's clock stands still") }
        let offset = before["mode"]?.string == "offset" ? before["seconds"]?.int ?? 0 : 0
        try await management.call("PUT", "clock", ["mode": "offset", "seconds": .int(offset + seconds)])
        drift += seconds
        try await renewNonces()
        let result: Result<Void, ProbeFault>
        do throws(ProbeFault) { result = .success(try await work()) } catch { result = .failure(error) }
        drift -= seconds
        try await management.call(
            "PUT", "clock", offset == 0 ? ["mode": "real"] : ["mode": "offset", "seconds": .int(offset)])
        return try result.get()
    }

    /// Forgets the nonces, which are too old, and hears a new one: a start needs none.
    private func renewNonces() async throws(ProbeFault) {
        forgetNonces()
        _ = try await start { _ in }
    }

    /// Takes away what the run made; what cannot be taken away stays.
    func tidy() async {
        guard let management = try? Management(self) else { return }
        for client in made.clients { _ = try? await management.ofTenant("DELETE", "applications/\(client)") }
        for (user, kid) in made.devices where !made.users.contains(user) {
            _ = try? await management.ofTenant("DELETE", "users/\(user)/devices/\(kid)")
        }
        for user in made.users { _ = try? await management.ofTenant("DELETE", "users/\(user)") }
        made = Made()
    }
}
