import Conformance
import Encoding
import HTTP
import ReferenceIdP
import Testing
import Transport

@Suite struct RunTests {
    private func skipped(_ matrix: Matrix) -> Set<String> {
        Set(matrix.rows.filter { $0.verdict == .skipped }.map(\.rule))
    }

    @Test func `without an API, a management API and patience the rows that need them are skipped with the reason`()
        async throws
    {
        let matrix = try await Conformance.run(
            try Bench().setup { setup in
                setup.api = nil
                setup.management = nil
            })
        #expect(matrix.count(.fail) == 0 && matrix.count(.warn) == 0)
        let missing = skipped(matrix)
        #expect(missing.isSuperset(of: ["api.scheme", "access_token.cnf", "dpop.ath", "code.client", "code.lifetime"]))
        #expect(missing.isDisjoint(with: ["dpop.typ", "completion.dpop_key", "refresh.once", "start.decoy"]))
        for row in matrix.rows where row.verdict == .skipped { #expect(row.reason?.isEmpty == false) }
    }

    @Test func `time is waited for where no clock can be moved`() async throws {
        let bench = try Bench()
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.management = nil
                setup.only = ["code.lifetime", "session.lifetime", "access_token.exp"]
                setup.wait = { bench.passed.add($0) }
            })
        #expect(matrix.rows.map(\.verdict) == [.pass, .pass, .pass])
        #expect(bench.passed.value >= 61 + 301 + 301)
    }

    @Test func `only the rules asked for are judged`() async throws {
        let matrix = try await Conformance.run(try Bench().setup { $0.only = ["dpop.typ", "code.once"] })
        #expect(matrix.rows.map(\.rule) == ["dpop.typ", "code.once"])
    }

    @Test func `a server that cannot be reached is not judged`() async throws {
        let setup = try Bench().setup { $0.send = { _ throws(ProbeFault) in throw .unreachable("nobody answers") } }
        await #expect(throws: ProbeFault.unreachable("nobody answers")) { try await Conformance.run(setup) }
    }

    @Test func `a server that a plain sign-in does not work at is not judged`() async throws {
        let bench = try Bench()
        let setup = try bench.setup()
        try bench.manage("PATCH", "tenants/acme", ["runs_own_app": false])
        do {
            _ = try await Conformance.run(setup)
            Issue.record("it was judged")
        } catch {
            #expect(error.code == "conform.broken")
            #expect(error.description.contains("400 unauthorized_client"))
        }
    }

    @Test func `what a run made is taken away again, and the phone still signs in`() async throws {
        let bench = try Bench()
        let setup = try bench.setup()
        let before = try ["users", "applications"].map { try bench.manage("GET", "tenants/acme/\($0)") }
        _ = try await Conformance.run(setup)
        let after = try ["users", "applications"].map { try bench.manage("GET", "tenants/acme/\($0)") }
        #expect(names(before) == names(after))
        #expect(try bench.manage("GET", "clock")["mode"] == "real")
        #expect(try bench.manage("GET", "tenants/acme")["runs_own_app"] == true)
        #expect(try bench.manage("GET", "tenants/acme")["attestation_mode"] == "off")
        var again = setup
        again.only = ["code.once"]
        #expect(try await Conformance.run(again).count(.pass) == 1)
    }

    private func names(_ pages: [JSON]) -> [String] {
        pages.flatMap { page in
            (page["users"]?.array ?? []) + (page["applications"]?.array ?? [])
        }.compactMap { $0["email"]?.string ?? $0["client_id"]?.string }.filter { $0 != "ada@acme.example" }
    }

    @Test(arguments: ["off", "enforce"])
    func `without a management API a spare ticket serves the rows about enrolment`(mode: String) async throws {
        let bench = try Bench()
        try bench.manage("PATCH", "tenants/acme", ["attestation_mode": .string(mode)])
        let rules = [
            "typ", "alg", "signature", "aud", "act", "tkt", "fth", "platform", "iat", "ticket", "once", "code",
        ]
        let user = try bench.manage("POST", "tenants/acme/users", ["email": "bob@acme.example", "ticket": true])
        var setup = try bench.setup { setup in
            setup.management = nil
            setup.only = Set(rules.map { "enroll." + $0 } + ["enroll.key", "signup.decoy"])
        }
        let without = skipped(try await Conformance.run(setup))
        #expect(without.isDisjoint(with: ["enroll.ticket", "enroll.code", "signup.decoy"]))
        #expect(without.count == setup.only.map { $0.count - 3 })
        setup.spareTicket = user["ticket"]?.string
        let matrix = try await Conformance.run(setup)
        #expect(skipped(matrix) == ["enroll.key"])
        #expect(matrix.count(.pass) == rules.count + 1)
    }

    @Test func `a server that forgets tickets is left without the devices it let in`() async throws {
        let bench = try Bench()
        let setup = try bench.setup { $0.only = ["enroll.ticket", "enroll.code", "enroll.once", "enroll.key"] }
        try bench.manage(
            "PUT", "tenants/acme/rules",
            ["off": ["enroll.ticket", "enroll.code", "enroll.once", "enroll.key"]])
        #expect(try await Conformance.run(setup).count(.fail) == 4)
        let users = try bench.manage("GET", "tenants/acme/users")["users"]?.array ?? []
        #expect(users.map { $0["email"] } == ["ada@acme.example"])
        #expect(users.first?["devices"]?.array?.count == 1)
    }

    @Test func `an error the descriptions leave open warns`() async throws {
        let bench = try Bench()
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.only = ["dpop.header.missing", "dpop.typ"]
                setup.send = { request throws(ProbeFault) in
                    let response = bench.send(request)
                    guard !request.fields.contains("DPoP"), response.status == 400 else { return response }
                    return .json(["error": "invalid_request"], status: 400)
                }
            })
        #expect(matrix.rows.map(\.verdict) == [.warn, .pass])
    }

    @Test func `a refusal that is a 5xx fails`() async throws {
        let bench = try Bench()
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.only = ["dpop.typ", "code.verifier", "completion.chl", "refresh.known"]
                setup.send = { request throws(ProbeFault) in
                    var response = bench.send(request)
                    if response.status == 400, request.method == "POST" { response.status = 500 }
                    return response
                }
            })
        #expect(matrix.rows.map(\.verdict) == [.fail, .fail, .fail, .fail])
    }

    @Test func `neither matrix nor document hold a token, a code or a key`() async throws {
        let bench = try Bench()
        let seen = Seen()
        let matrix = try await Conformance.run(
            try bench.setup { setup in
                setup.send = { request throws(ProbeFault) in
                    let response = bench.send(request)
                    seen.note(request, response)
                    return response
                }
            })
        let text = matrix.json.text + "\(matrix)"
        #expect(seen.secrets.count > 100)
        for secret in seen.secrets where text.contains(secret) { Issue.record("the matrix holds \(secret.prefix(8))…") }
    }
}
