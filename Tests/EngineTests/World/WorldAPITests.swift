import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import ReferenceIdP
import SignIn
import Store
import Testing

/// Clocks, resets, snapshots and exports over the control API.
@Suite struct WorldAPITests {
    /// A world with its control API.
    private struct Controlled {
        let world: SeededWorld
        let api: ControlAPI

        init(_ seed: String = "tea") throws {
            world = try SeededWorld(seed)
            api = ControlAPI(engine: world.engine, version: "test")
            api.add(world.idp)
        }

        @discardableResult
        func call(_ method: String, _ path: String, _ body: JSON? = nil) async -> (status: Int, json: JSON) {
            let request = HTTPRequest(
                method: method, target: path, fields: ["Content-Type": "application/json"],
                body: body?.serialized() ?? [])
            let response = await api.respond(to: request)
            return (response.status, (try? JSON(parsing: response.body, depthLimit: 64)) ?? .null)
        }

        func export() async throws -> String {
            let answer = await call("GET", "/v1/export")
            try #require(answer.status == 200, "\(answer.json.text)")
            return answer.json.text
        }
    }

    // MARK: Clocks

    @Test func `moving the world's clock moves phone and provider alike, and is journalled`() async throws {
        let controlled = try Controlled()
        let ada = try await controlled.world.phone("ada")
        let start = SeededWorld.beginning.seconds
        let moved = await controlled.call("POST", "/v1/clock", ["advance": "90s"])
        #expect(moved.json["now"] == .int(start + 90))
        #expect(moved.json["idps"]?.array?.first?["now"] == .int(start + 90))
        #expect(try await controlled.world.engine.device(ada).now.seconds == start + 90)
        let back = await controlled.call("POST", "/v1/clock", ["advance": "-1h"])
        #expect(back.json["now"] == .int(start + 90 - 3600))
        #expect(await controlled.call("POST", "/v1/clock", ["set": "@1700000000"]).json["now"] == 1_700_000_000)
        #expect(await controlled.call("POST", "/v1/clock", ["real": true]).json["clock"] == "real")
        #expect(await controlled.call("POST", "/v1/clock", ["freeze": true]).json["clock"]?.string?.first == "@")
        let entries = controlled.world.journal.filter { $0["step"]?["kind"] == "clock" }
        #expect(entries.count == 5)
        #expect(entries[1]["step"]?["moved_milliseconds"] == -3_600_000)
        #expect(entries[1]["device"] == .null)
    }

    @Test func `a phone's clock stands on the world's and moves apart from it`() async throws {
        let controlled = try Controlled()
        let ada = try await controlled.world.phone("ada")
        let start = SeededWorld.beginning.seconds
        let ahead = await controlled.call("POST", "/v1/devices/ada/clock", ["advance": "90s"])
        #expect(ahead.json["clock"] == "+90s")
        #expect(ahead.json["now"] == .int(start + 90))
        let behind = await controlled.call("POST", "/v1/devices/ada/clock", ["advance": "-3m"])
        #expect(behind.json["clock"] == "-90s")
        #expect(await controlled.call("POST", "/v1/devices/ada/clock", ["set": "real"]).json["clock"] == "real")
        #expect(controlled.world.idp.idp.now == SeededWorld.beginning)
        #expect(controlled.world.journal(of: ada).filter { $0.contains("\"clock\"") }.count == 3)
        #expect(await controlled.call("POST", "/v1/devices/bob/clock", ["set": "real"]).status == 404)
    }

    @Test func `the provider's clock moves apart from the world's`() throws {
        let world = try SeededWorld("tea")
        try world.manage("POST", "/clock", ["advance": -90])
        #expect(world.idp.idp.now == SeededWorld.beginning.adding(seconds: -90))
        try world.manage("PUT", "/clock", ["mode": "frozen", "at": 1_700_000_000])
        try world.manage("POST", "/clock", ["advance": 5])
        #expect(world.idp.idp.now.seconds == 1_700_000_005)
    }

    @Test(
        arguments: [
            [:], ["advance": "90s", "freeze": true], ["set": "tomorrow"], ["advance": "90"], ["advance": 90],
            ["advance": "999999d"], ["speed": "2"],
        ] as [JSON])
    func `a clock that cannot be is refused and stays`(body: JSON) async throws {
        let controlled = try Controlled()
        let answer = await controlled.call("POST", "/v1/clock", body)
        #expect(answer.status == 422, "\(answer.json.text)")
        #expect(controlled.world.clock.now() == SeededWorld.beginning)
    }

    // MARK: Resets

    /// A world in which there is something of everything.
    private func full(_ controlled: Controlled) async throws {
        let world = controlled.world
        for name in ["ada", "bob"] { try await world.signIn(try await world.phone(name)) }
        await controlled.call("POST", "/v1/devices/ada/clock", ["advance": "90s"])
        try world.manage("POST", "/clock", ["advance": 5])
        await controlled.call("POST", "/v1/clock", ["advance": "10s"])
        let config = SignInConfig(
            issuer: world.issuer, clientID: "app_demo", scopes: ["openid"], allowPlainHTTPOnLoopback: true)
        let order = SignInOrder(
            config: config, scans: [.hang], faults: [try PlannedFault(text: "drop:token:3")])
        let bob = try #require(DeviceID(rawValue: "bob"))
        let flow = try await world.engine.startSignIn(order, device: bob)
        var view = flow
        while !view.waitsForScan { view = try await world.engine.flow(flow.id, after: view.steps.count, waiting: 30) }
    }

    @Test func `each scope clears what it names, says how much, and leaves the rest`() async throws {
        for scope in ["faults", "devices", "journal", "clock", "idp"] {
            let controlled = try Controlled()
            try await full(controlled)
            let answer = await controlled.call("POST", "/v1/reset", ["scope": .string(scope)])
            #expect(answer.status == 200, "\(scope): \(answer.json.text)")
            let cleared = try #require(answer.json["cleared"])
            let devices = await controlled.call("GET", "/v1/devices").json["devices"]?.array?.count
            let users = try controlled.world.manage("GET", "/tenants/acme/users")["users"]?.array?.count
            #expect(devices == (scope == "devices" ? 0 : 2), "\(scope)")
            #expect(users == (scope == "idp" ? 0 : 2), "\(scope)")
            #expect(controlled.world.journal.count > 1 || scope == "journal", "\(scope)")
            switch scope {
            case "faults": #expect(cleared == ["faults": 3])
            case "devices":
                #expect(cleared["devices"] == 2)
                #expect(cleared["keys"] == 4)
                #expect(cleared["enrolments"] == 2)
                #expect(cleared["sessions"] == 2)
                #expect(cleared["flows"] == 3)
            case "journal": #expect((cleared["feed"]?.int ?? 0) > 20 && (cleared["journal"]?.int ?? 0) > 20)
            case "clock":
                #expect(cleared["devices"] == 1)
                #expect(controlled.world.clock.now() == SeededWorld.beginning)
                #expect(controlled.world.idp.idp.now == SeededWorld.beginning)
            default:
                #expect(cleared["idps"]?.array?.first?["records"]?["user"] == 2)
            }
        }
    }

    @Test func `after a reset of all nothing is left, and the same run has the same journal again`() async throws {
        let controlled = try Controlled()
        let empty = try await controlled.export()
        try await full(controlled)
        let first = controlled.world.journal.map(\.text)
        let answer = await controlled.call("POST", "/v1/reset", ["scope": "all"])
        #expect(answer.status == 200, "\(answer.json.text)")
        #expect(answer.json["cleared"]?["faults"] == 3)
        #expect(answer.json["cleared"]?["devices"] == 2)
        #expect(controlled.world.journal.isEmpty)
        #expect(try await controlled.export() == empty)
        try await full(controlled)
        #expect(controlled.world.journal.map(\.text) == first)
    }

    @Test func `a scope there is not is refused`() async throws {
        let controlled = try Controlled()
        for body in [[:], ["scope": "everything"], ["scope": 1]] as [JSON] {
            #expect(await controlled.call("POST", "/v1/reset", body).status == 422)
        }
    }

    // MARK: Snapshots

    @Test func `enrolled, token five seconds from its end: kept under a name and back in one call`() async throws {
        let controlled = try Controlled()
        let world = controlled.world
        let ada = try await world.phone("ada")
        try await world.signIn(ada)
        let session = try #require(try await world.engine.session(of: ada)).session
        await controlled.call(
            "POST", "/v1/clock",
            ["advance": .string("\(session.expiresAt.seconds(since: world.clock.now()) - 5)s")])
        #expect(await controlled.call("POST", "/v1/snapshots", ["name": "nearly-over"]).status == 201)
        for round in 1...2 {
            // Time goes on, the session is renewed, somebody else comes along.
            await controlled.call("POST", "/v1/clock", ["advance": "1h"])
            #expect(try await world.fetch(ada).refreshes == [.renewed], "round \(round)")
            _ = try await world.phone("guest-\(round)")
            let restored = await controlled.call("POST", "/v1/snapshots/nearly-over/restore")
            #expect(restored.status == 200, "\(restored.json.text)")
            #expect(restored.json["not_in_it"]?.array?.isEmpty == false)
            let back = try #require(try await world.engine.session(of: ada))
            #expect(back.session.accessToken == session.accessToken)
            #expect(back.session.expiresAt.seconds(since: back.now) == 5)
            #expect(await controlled.call("GET", "/v1/devices").json["devices"]?.array?.count == 1)
            #expect(try world.manage("GET", "/tenants/acme/users")["users"]?.array?.count == 1)
        }
        #expect(await controlled.call("GET", "/v1/snapshots").json["snapshots"]?.array?.count == 1)
        #expect(await controlled.call("DELETE", "/v1/snapshots/nearly-over").status == 204)
        #expect(await controlled.call("POST", "/v1/snapshots/nearly-over/restore").status == 404)
    }

    @Test func `while a flow is under way nothing is kept or put back; a parked one is no hindrance`() async throws {
        let controlled = try Controlled()
        let world = controlled.world
        try await full(controlled)
        for (path, body) in [("/v1/snapshots", ["name": "a"]), ("/v1/import", [:])] as [(String, JSON)] {
            let answer = await controlled.call("POST", path, body)
            #expect([409, 422].contains(answer.status))
            if path == "/v1/snapshots" { #expect(answer.json["code"] == "flows_under_way") }
        }
        let flows = await controlled.call("GET", "/v1/flows?live=true").json["flows"]?.array ?? []
        for flow in flows { await controlled.call("POST", "/v1/flows/\(flow["id"]?.string ?? "")/cancel") }
        let config = SignInConfig(
            issuer: world.issuer, clientID: "app_demo", scopes: ["openid"], allowPlainHTTPOnLoopback: true)
        let order = SignInOrder(
            config: config, scans: [.match], faults: [try PlannedFault(text: "drop:completion:9")])
        let ada = try #require(DeviceID(rawValue: "ada"))
        // The phone was put 90 s ahead.
        await controlled.call("POST", "/v1/devices/ada/clock", ["set": "real"])
        let flow = try await world.engine.startSignIn(order, device: ada)
        let parked = try await world.engine.flow(flow.id, waiting: 30, untilRest: true)
        #expect(parked.state.isParked, "\(parked.state)")
        #expect(await controlled.call("POST", "/v1/snapshots", ["name": "parked"]).status == 201)
        _ = try await world.engine.cancel(flow.id)
        #expect(await controlled.call("POST", "/v1/snapshots/parked/restore").status == 200)
        #expect(try await world.engine.flow(flow.id).state.isParked)
    }

    @Test(arguments: ["", "../evil", "A", "a/b", String(repeating: "a", count: 65)])
    func `a name that cannot be a file's is refused`(name: String) async throws {
        let answer = try await Controlled().call("POST", "/v1/snapshots", ["name": .string(name)])
        #expect(answer.status == 422)
    }

    // MARK: Exports

    @Test func `an export, everything wiped, and imported again exports the same bytes`() async throws {
        let controlled = try Controlled()
        let world = controlled.world
        for name in ["ada", "bob"] { try await world.signIn(try await world.phone(name)) }
        await controlled.call("POST", "/v1/devices/ada/clock", ["advance": "90s"])
        let exported = try await controlled.export()
        #expect(await controlled.call("POST", "/v1/reset", ["scope": "all"]).status == 200)
        #expect(try await controlled.export() != exported)
        let imported = await controlled.call("POST", "/v1/import", try JSON(parsing: Array(exported.utf8)))
        #expect(imported.status == 200, "\(imported.json.text)")
        #expect(try await controlled.export() == exported)
        // And it lives: keys, session, and what the provider knows of them.
        let bob = try #require(DeviceID(rawValue: "bob"))
        #expect(try await world.fetch(bob).response.status == 200)
        #expect(try await world.signIn(bob).result == "signed in")
    }

    @Test func `another world takes an export over, its provider's keys included`() async throws {
        let (one, two) = (try Controlled("tea"), try Controlled("milk"))
        let ada = try await one.world.phone("ada")
        try await one.world.signIn(ada)
        let exported = try await one.export()
        #expect(await two.call("POST", "/v1/import", try JSON(parsing: Array(exported.utf8))).status == 200)
        #expect(try await two.export() == exported)
        #expect(try await two.world.fetch(ada).response.status == 200)
    }

    @Test func `what is no export changes nothing, and the refusal names no secret`() async throws {
        let controlled = try Controlled()
        try await controlled.world.signIn(try await controlled.world.phone("ada"))
        let exported = try await controlled.export()
        let good = try #require(try JSON(parsing: Array(exported.utf8)).object)
        var bad: [JSON] = [.null, [], [:], ["understudy_export": 2]]
        for name in good.names {
            var less = good
            less[name] = nil
            bad.append(.object(less))
            var other = good
            other[name] = 7
            bad.append(.object(other))
        }
        let tables = try #require(good["tables"]?.object)
        for name in tables.names {
            var less = tables
            less[name] = nil
            bad.append(Self.replacing(good, tables: less))
            var odd = tables
            odd[name] = ["columns": tables[name]?["columns"] ?? .null, "rows": [[1]]]
            bad.append(Self.replacing(good, tables: odd))
            var renamed = tables
            renamed[name] = ["columns": ["x"], "rows": tables[name]?["rows"] ?? .null]
            bad.append(Self.replacing(good, tables: renamed))
        }
        var orphans = tables
        orphans["devices"] = ["columns": tables["devices"]?["columns"] ?? .null, "rows": []]
        bad.append(Self.replacing(good, tables: orphans))
        var unreadable = good["tables"]?.text ?? ""
        unreadable = unreadable.replacing("\"ios\"", with: "\"fridge\"")
        bad.append(Self.replacing(good, tables: try #require(try JSON(parsing: Array(unreadable.utf8)).object)))
        let face = try #require(tables["devices"]?["rows"]?.array?.first?.array?[5]["base64url"]?.string)
        for document in bad {
            let answer = await controlled.call("POST", "/v1/import", document)
            #expect((400..<500).contains(answer.status), "\(document.text.prefix(200))")
            #expect(!answer.json.text.contains(face))
        }
        #expect(try await controlled.export() == exported)
    }

    private static func replacing(_ good: JSONObject, tables: JSONObject) -> JSON {
        var document = good
        document["tables"] = .object(tables)
        return .object(document)
    }
}
