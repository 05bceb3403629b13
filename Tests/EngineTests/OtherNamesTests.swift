import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import Profiles
import SignIn
import Store
import Testing
import Transport

/// Phone and IdP under a profile that names everything otherwise, each of them reading it for itself.
@Suite struct OtherNamesTests {
    /// Everything a phone can do with the names: both ways to enrol, mismatches, Face PKI, an abort, evidence.
    private func everything(_ house: House) async throws {
        try house.manage("PATCH", "/tenants/acme", ["pki_enabled": true, "attestation_mode": "audit"])
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.mismatch, .mismatch, .match])
        #expect(flow.reason == nil, "\(flow.calls)")
        let keys = SignInPKIRequest(kind: .publicKeys, context: [1], operand: nil, scope: .app)
        guard case .signedIn(let summary) = try await house.signIn(ada, pki: keys).state else {
            Issue.record("no sign-in with Face PKI")
            return
        }
        #expect(summary.pki?.output.keys.count == FacePKIClass.allCases.count)
        let waiting = try await house.signIn(ada, scans: [.hang])
        #expect(try await house.engine.cancel(waiting.id).reason == "cancelled")
        await house.engine.settle(within: 5000)
        #expect(house.exchanges.all.contains { $0.request.url.path.hasSuffix("/abort") && $0.response?.status == 204 })
        #expect(try await house.signIn(try await enrolByMail("bob", in: house)).reason == nil)
        #expect(try house.findings().allSatisfy { $0.hasPrefix("attestation.") })
    }

    /// An Android phone enrolled with a mailed code.
    @discardableResult
    private func enrolByMail(_ name: String, in house: House) async throws -> DeviceID {
        let id = try #require(DeviceID(rawValue: name))
        let email = "\(name)@acme.test"
        _ = try house.engine.createDevice(id, platform: .android)
        try await house.engine.requestSignUp(email, issuer: house.issuer, device: id)
        let mail = try house.manage("GET", "/tenants/acme/inbox")["mails"]?.array?.last
        let code = try #require(mail?["code"]?.string)
        _ = try await house.engine.enrol(.code(code, email: email), issuer: house.issuer, device: id)
        return id
    }

    @Test func `with another name for each, every name is used, and none of the built-in profile`() async throws {
        let house = try await House.open(profile: try OtherNames.profile())
        try await everything(house)
        let document = String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self)
        let renamed = String(decoding: try OtherNames.document(), as: UTF8.self)
        let names = OtherNames.names(try JSON5Reader.read(renamed).json)
        let seen = try Seen(house.exchanges.all, issuer: house.issuer, names)
        #expect(names.claims.subtracting(seen.claims).isEmpty, "claims never used")
        #expect(names.members.subtracting(seen.members).isEmpty, "members never used")
        let builtIn = OtherNames.names(try JSON5Reader.read(document).json)
        #expect(seen.claims.isDisjoint(with: builtIn.claims))
        // A name of ours that a standard has as well stands for that where it is seen.
        let standard: Set = ["code"]
        #expect(seen.members.intersection(builtIn.members).subtracting(standard).isEmpty)
    }

    @Test func `all of it is done under the built-in names too`() async throws {
        try await everything(try await House.open())
    }

    @Test func `a parked flow keeps its names over a restart`() async throws {
        let folder = try TemporaryFolder()
        let profile = try OtherNames.profile()
        let first = try await House.open(store: try Store(directory: folder.path), profile: profile)
        let ada = try await first.phone()
        let parked = try await first.signIn(ada, scans: [.match], faults: ["lose-reply:completion:2"])
        #expect(parked.state.isParked)
        let second = try await House.open(
            store: try Store(directory: folder.path), idp: first.idp, profile: profile)
        #expect(try await second.rest(of: try await second.engine.retry(parked.id)).reason == nil)
    }

    /// One name of the phone's changed at a time, and none of its server's.
    @Test func `phone and IdP read the names separately: one that differs stands in the way`() async throws {
        let text = String(decoding: SenseCryptProfile.builtInDocument, as: UTF8.self)
        let document = try JSON5Reader.read(text).json
        let idp = try await IdPService.start(IdPService.Configuration())
        let store = try Store.inMemory()
        let ada = try await House.open(store: store, idp: idp).phone()
        let tables =
            [["ceremony", "claims"]] + (document["members"]?.object?.names ?? []).map { ["members", $0] }
        var (harmless, count): (Set<String>, Int) = ([], 0)
        for table in tables {
            for field in document[table[0]]?[table[1]]?.object?.names ?? [] {
                count += 1
                let changed = try changing(document, table + [field][...])
                let house = try await House.open(
                    store: store, idp: idp, profile: try SenseCryptProfile(json5: changed.serialized()))
                if await works(house, ada, number: count) { harmless.insert("\(table[1]).\(field)") }
            }
        }
        #expect(count == 12 + 29)
        // Nobody here wants evidence or Face PKI, aborts, or asks which generation an enrolment begins with.
        #expect(
            harmless == [
                "claims.reason", "challenge_form.attestation", "enrollment.attestation", "enrollment_answer.generation",
                "face_token_answer.pki", "pki.classes",
            ])
    }

    /// The document with another value at a path.
    private func changing(_ json: JSON, _ path: ArraySlice<String>) throws -> JSON {
        guard let name = path.first else { return "another" }
        var object = try #require(json.object)
        object[name] = try changing(try #require(object[name]), path.dropFirst())
        return .object(object)
    }

    /// Whether a phone signs in and others enrol, by a ticket and by a mailed code.
    private func works(_ house: House, _ ada: DeviceID, number: Int) async -> Bool {
        do {
            guard try await house.signIn(ada, scans: [.mismatch, .match]).reason == nil else { return false }
            _ = try await house.phone("phone\(number)")
            try await enrolByMail("mail\(number)", in: house)
            return true
        } catch { return false }
    }
}

/// The names in everything that went to an issuer's own endpoints and came back.
private struct Seen {
    var claims: Set<String> = []
    var members: Set<String> = []

    init(_ exchanges: [Exchanges.Exchange], issuer: String, _ names: (claims: Set<String>, members: Set<String>)) throws
    {
        for exchange in exchanges where exchange.request.url.text.hasPrefix(issuer) {
            if let json = try? JSON(parsing: exchange.request.body) { look(at: json) }
            for (name, value) in (try? FormFields(decoding: exchange.request.body))?.pairs.map({ ($0.name, $0.value) })
                ?? []
            {
                members.insert(name)
                if names.members.contains(name) { look(at: .string(value)) }
            }
            if let response = exchange.response, let json = try? JSON(parsing: response.body) { look(at: json) }
        }
    }

    /// A signed request stands under a name of ours; what else is signed has names that standards state.
    private mutating func look(at json: JSON) {
        for element in json.array ?? [] { look(at: element) }
        for member in json.object?.members ?? [] {
            members.insert(member.name)
            // Evidence has a shape of its own, which no profile states.
            if member.name.hasSuffix("_attestation") { continue }
            look(at: member.value)
        }
        guard let text = json.string, let jws = try? JWS(compact: text), jws.type?.hasPrefix("device-") == true,
            let payload = try? JSON(parsing: jws.payload).object
        else { return }
        claims.formUnion(payload.names)
    }
}
