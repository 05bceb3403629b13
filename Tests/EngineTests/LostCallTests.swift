import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Testing
import Transport

/// Lost and failing calls over sockets: SenseCrypt description, "Network failures cost no second face scan".
@Suite struct LostCallTests {
    @Test(arguments: [
        "drop:start", "lose-reply:start", "drop:faceToken", "lose-reply:faceToken", "drop:completion",
        "lose-reply:completion",
    ])
    func `one lost call is made up for without a second scan`(fault: String) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.match], faults: [fault])
        #expect(flow.reason == nil)
        #expect(flow.scans == ["match"])
    }

    @Test(arguments: ["drop:start:2", "lose-reply:faceToken:2"])
    func `a call that is lost twice before the scan fails with network`(fault: String) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.match], faults: [fault])
        #expect(flow.reason == "network")
        #expect(flow.scans.isEmpty)
    }

    @Test(arguments: ["drop:completion:2", "lose-reply:completion:2", "status-503:completion", "status-429:completion"])
    func `a completion that cannot be posted parks, and retry sends the same proof again`(fault: String) async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let parked = try await house.signIn(ada, scans: [.match], faults: [fault])
        #expect(parked.state.isParked)
        let done = try await house.rest(of: try await house.engine.retry(parked.id))
        #expect(done.reason == nil)
        #expect(done.scans == ["match"])
        let proofs = try house.exchanges.forms(to: "/oauth2/challenge").compactMap { $0["ceremony_proof"] }
        #expect(Set(proofs).count == 1)
    }

    @Test func `a lost token reply gets a replacement code and the lost grant is revoked`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let flow = try await house.signIn(ada, scans: [.match], faults: ["lose-reply:token"])
        #expect(flow.reason == nil)
        let codes = try house.exchanges.forms(to: "/oauth2/token").compactMap { $0["code"] }
        #expect(Set(codes).count == 2)
        let answers = house.exchanges.all.filter { $0.request.url.path.hasSuffix("/oauth2/token") }.compactMap(
            \.response)
        let lost = try #require(answers.first { $0.status == 200 })
        let tokens = try JSON(parsing: lost.body)
        let refresh = try #require(tokens["refresh_token"]?.string)
        let session = try #require(try await house.engine.session(of: ada)).session
        #expect(session.refreshToken != refresh)
        let acme = try #require(try house.manage("GET", "/state")["tenants"]?.array?.first)
        #expect(acme["grants"]?.array?.count == 1)
    }

    @Test func `a start that is answered 503 fails with server and one that is answered 429 with rateLimited`()
        async throws
    {
        let house = try await House.open()
        let ada = try await house.phone()
        #expect(try await house.signIn(ada, faults: ["status-503:start"]).reason == "server")
        #expect(try await house.signIn(ada, faults: ["status-429:start"]).reason == "rateLimited")
        #expect(try await house.signIn(ada, faults: ["status-500:faceToken"]).reason == "server")
    }

    @Test func `a parked flow survives the death of its process with its exact proof`() async throws {
        let folder = try TemporaryFolder()
        let first = try await House.open(store: try Store(directory: folder.path))
        let ada = try await first.phone()
        let parked = try await first.signIn(ada, scans: [.match], faults: ["lose-reply:completion:2"])
        #expect(parked.state.isParked)

        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp)
        #expect(try await second.engine.resumeFlows() == 0)
        let found = try await second.engine.flow(parked.id)
        #expect(found.state == parked.state)
        #expect(found.steps.count == parked.steps.count)
        let done = try await second.rest(of: try await second.engine.retry(parked.id))
        #expect(done.reason == nil)
        let before = try first.exchanges.forms(to: "/oauth2/challenge").compactMap { $0["ceremony_proof"] }
        let after = try second.exchanges.forms(to: "/oauth2/challenge").compactMap { $0["ceremony_proof"] }
        #expect(Set(before + after).count == 1)
        #expect(!after.isEmpty)
    }

    @Test func `a flow whose camera waits goes on in another process`() async throws {
        let folder = try TemporaryFolder()
        let first = try await House.open(store: try Store(directory: folder.path))
        let ada = try await first.phone()
        let waiting = try await first.signIn(ada, scans: [.mismatch, .hang])
        #expect(waiting.waitsForScan)

        let second = try await House.open(store: try Store(directory: folder.path), idp: first.idp)
        #expect(try await second.engine.flow(waiting.id).waitsForScan)
        let found = try await second.rest(of: try await second.engine.scan(.match, for: waiting.id))
        #expect(found.reason == nil)
        #expect(found.scans.last == "match")
    }
}
