import Crypto
import Encoding
import JOSE

/// Setting the stage.
extension Play {
    /// Sets the reference IdP, makes the people and the phones, and enrols them.
    func prepare() async throws {
        people.fill("tenant", scenario.tenant)
        people.fill("issuer", stage.target.issuer)
        people.fill("client", stage.target.client)
        people.fill("api", stage.target.resource ?? "")
        for user in scenario.users { people.fill("email:\(user.name)", user.email) }
        if stage.idp != nil { try prepareIdP() }
        for device in scenario.devices {
            var settings = device.settings
            settings["id"] = .string(device.id)
            _ = try await must("POST", "/v1/devices", .object(settings))
            for user in device.enrolled {
                let enrolment = try await must(
                    "POST", "/v1/devices/\(device.id)/enrolments",
                    ["issuer": .string(stage.target.issuer), "ticket": .string(try await ticket(for: user))])
                people.fill("kid:\(device.id)", enrolment["kid"]?.string ?? "")
            }
        }
    }

    private func prepareIdP() throws {
        let tenant = "/tenants/\(scenario.tenant)"
        let application = "\(tenant)/applications/\(scenario.client)"
        if scenario.hasClientKey { try registerClientKey(application) }
        if let changes = scenario.idp["tenant"] { try stage.arrange("PATCH", tenant, people.filled(changes)) }
        if let changes = scenario.idp["policy"] { try stage.arrange("PATCH", tenant + "/policy", changes) }
        if let changes = scenario.idp["application"] {
            try stage.arrange("PATCH", application, people.filled(changes))
        }
        if let clock = scenario.idp["clock"] { try stage.arrange("PUT", "/clock", clock) }
        for user in scenario.users {
            let made = try stage.arrange("POST", tenant + "/users", ["email": .string(user.email)])
            guard let id = made["id"]?.string else { throw SetUpFailure("a new user has no id") }
            people.fill("user:\(user.name)", id)
            if let changes = user.settings { try stage.arrange("PATCH", "\(tenant)/users/\(id)", changes) }
        }
        if let off = scenario.idp["rules_off"] { try stage.arrange("PUT", tenant + "/rules", ["off": off]) }
    }

    /// Makes a key pair for the client: the public half is registered, the private one speaks for it in this process.
    private func registerClientKey(_ application: String) throws {
        let key = try P256.PrivateKey.generate(stage.entropy.derived("client key"))
        guard var jwk = JWK.p256(key.publicKey).json.object else { throw SetUpFailure("a public key has no JWK") }
        jwk["kid"] = "scenario"
        try stage.arrange(
            "PATCH", application,
            ["token_endpoint_auth_method": "private_key_jwt", "jwks": ["keys": [.object(jwk)]]])
        jwk["d"] = .string(Base64URL.encode(try key.scalar))
        clientKey = .object(jwk)
    }

    /// The ticket a step names; else a new one of the reference IdP, or one of those that were given or are asked for.
    func ticket(_ named: String? = nil, for user: String) async throws(SetUpFailure) -> String {
        if let named { return named }
        guard stage.idp != nil else { return try await foreignTicket(for: user) }
        guard let id = people["user:\(user)"] else { throw SetUpFailure("there is no user '\(user)'") }
        let made = try stage.arrange("POST", "/tenants/\(scenario.tenant)/users/\(id)/tickets", [:])
        guard let ticket = made["ticket"]?.string else { throw SetUpFailure("a new ticket has no text") }
        return ticket
    }

    private func foreignTicket(for user: String) async throws(SetUpFailure) -> String {
        guard case .asked(let source) = stage.target.tickets else {
            guard let ticket = tickets.popFirst() else { throw SetUpFailure("no ticket is left for user '\(user)'") }
            return ticket
        }
        let request = TicketRequest(
            issuer: stage.target.issuer, scenario: "\(scenario.group)/\(scenario.name)", user: user,
            email: people["email:\(user)"] ?? "")
        do {
            let ticket = try await source(request)
            // From here on the user is whom the ticket is for.
            if let email = ticket.email { people.fill("email:\(user)", email) }
            return ticket.text
        } catch {
            throw SetUpFailure("no ticket for user '\(user)': \(error.description)")
        }
    }

    /// A call of the control API whose refusal is a failure of the set-up.
    private func must(_ method: String, _ path: String, _ body: JSON?) async throws(SetUpFailure) -> JSON {
        let (status, document) = await call(method, path, body)
        guard (200..<300).contains(status) else {
            throw SetUpFailure(
                "\(method) \(path) was answered \(status): \(document["detail"]?.string ?? document.text)")
        }
        return document
    }
}
