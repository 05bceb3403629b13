import Control
import Encoding
import Engine
import HTTP
import Testing

/// Every endpoint of the control API gets nonsense: a clear refusal, never a crash and never a 5xx.
@Suite struct NonsenseTests {
    static let addresses: [(method: String, path: String)] = [
        ("POST", "/v1/devices"), ("PATCH", "/v1/devices/ada"), ("POST", "/v1/devices/ada/scans"),
        ("POST", "/v1/devices/ada/enrolments"), ("POST", "/v1/devices/ada/flows"), ("POST", "/v1/devices/ada/fetch"),
        ("POST", "/v1/flows/f-none/scan"),
    ]

    static let bodies: [(name: String, body: String, status: Int)] = [
        ("no JSON", "{", 400), ("no object", "[]", 400), ("a number", "7", 400),
        ("a repeated name", #"{"a":1,"a":2}"#, 400),
        ("an unknown field", #"{"nonsense":true}"#, 422),
        ("deep nesting", String(repeating: "[", count: 10_000), 400),
        ("broken UTF-8", "{\"id\":\"\u{FFFD}", 400),
    ]

    @Test(arguments: addresses.map(\.path), bodies.map(\.name))
    func `a body that is nonsense is refused with field or rule`(path: String, name: String) async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        _ = await api.respond(to: .json("POST", "/v1/devices", #"{"id":"ada"}"#))
        let address = try #require(Self.addresses.first { $0.path == path })
        let nonsense = try #require(Self.bodies.first { $0.name == name })
        let response = await api.respond(to: .json(address.method, address.path, nonsense.body))
        #expect(response.status == nonsense.status)
        let problem = try JSON(parsing: response.body)
        #expect(response.fields["Content-Type"]?.hasPrefix("application/problem+json") == true)
        #expect(problem["code"]?.string != nil)
        #expect(problem["detail"]?.string?.isEmpty == false)
    }

    static let wrongFields: [(path: String, body: String, field: String)] = [
        ("/v1/devices", #"{}"#, "id"), ("/v1/devices", #"{"id":7}"#, "id"), ("/v1/devices", #"{"id":""}"#, "id"),
        ("/v1/devices", #"{"id":"UPPER"}"#, "id"), ("/v1/devices", #"{"id":"../x"}"#, "id"),
        ("/v1/devices", #"{"id":"x","platform":"windows"}"#, "platform"),
        ("/v1/devices", #"{"id":"x","clock":"yesterday"}"#, "clock"),
        ("/v1/devices", #"{"id":"x","scans":"match"}"#, "scans"),
        ("/v1/devices", #"{"id":"x","scans":["smile"]}"#, "scans"),
        ("/v1/devices", #"{"id":"x","default_scan":"smile"}"#, "default_scan"),
        ("/v1/devices/ada/scans", #"{"scans":[]}"#, "scans"), ("/v1/devices/ada/enrolments", #"{}"#, "issuer"),
        ("/v1/devices/ada/enrolments", #"{"issuer":"http://127.0.0.1:1/x"}"#, "ticket"),
        ("/v1/devices/ada/enrolments", #"{"issuer":"http://127.0.0.1:1/x","ticket":"t","email":"e"}"#, "ticket"),
        ("/v1/devices/ada/flows", #"{"client_id":"c"}"#, "issuer"),
        ("/v1/devices/ada/flows", #"{"issuer":"i"}"#, "client_id"),
        ("/v1/devices/ada/flows", #"{"issuer":"i","client_id":"c","scopes":"openid"}"#, "scopes"),
        ("/v1/devices/ada/flows", #"{"issuer":"i","client_id":"c","faults":["explode"]}"#, "faults"),
        ("/v1/devices/ada/flows", #"{"issuer":"i","client_id":"c","faults":["drop:lunch"]}"#, "faults"),
        ("/v1/devices/ada/flows", #"{"issuer":"i","client_id":"c","faults":["drop:start:0"]}"#, "faults"),
        ("/v1/devices/ada/fetch", #"{}"#, "url"), ("/v1/devices/ada/fetch", #"{"url":"ftp://x"}"#, "url"),
        ("/v1/devices/ada/fetch", #"{"url":"http://127.0.0.1:1/","method":"GE T"}"#, "method"),
        ("/v1/devices/ada/fetch", #"{"url":"http://127.0.0.1:1/","headers":[["A"]]}"#, "headers"),
        ("/v1/devices/ada/fetch", #"{"url":"http://127.0.0.1:1/","headers":[["A","x\r\nB: y"]]}"#, "headers"),
        ("/v1/devices/ada/fetch", #"{"url":"http://127.0.0.1:1/","headers":[["DPoP","x"]]}"#, "headers"),
        ("/v1/devices/ada/fetch", #"{"url":"http://127.0.0.1:1/","body_base64url":"=="}"#, "body_base64url"),
    ]

    @Test func `a wrong field is named and nothing half-done is left`() async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        _ = await api.respond(to: .json("POST", "/v1/devices", #"{"id":"ada"}"#))
        for (path, body, field) in Self.wrongFields {
            let response = await api.respond(to: .json("POST", path, body))
            #expect(response.status == 422, "\(path) \(body)")
            #expect(try JSON(parsing: response.body)["field"]?.string == field, "\(path) \(body)")
        }
        let devices = try JSON(parsing: await api.respond(to: .get("/v1/devices")).body)["devices"]?.array
        #expect(devices?.count == 1)
    }

    @Test func `what is not there, and what is not done there, is said so`() async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        for (method, path, status) in [
            ("GET", "/", 404), ("GET", "/v1", 404), ("GET", "/v1/devices/none", 404), ("GET", "/v1/devices/%zz", 404),
            ("GET", "/v1/flows/none", 404), ("POST", "/v1/flows/none/retry", 404), ("DELETE", "/livez", 405),
            ("PUT", "/v1/devices", 405), ("GET", "/v1/flows?limit=0", 422), ("GET", "/v1/flows?limit=9&limit=9", 422),
            ("GET", "/v1/devices?nonsense=1", 422), ("GET", "/v1/devices/none/session", 404),
            ("GET", "/v1/flows/none?wait=999", 422), ("GET", "/v1/journal?after=-1", 422),
            ("DELETE", "/v1/devices/none", 404),
        ] {
            let response = await api.respond(to: HTTPRequest(method: method, target: path))
            #expect(response.status == status, "\(method) \(path)")
            #expect(try JSON(parsing: response.body)["code"]?.string != nil, "\(method) \(path)")
        }
    }

    @Test func `a body that is no JSON by its media type is refused`() async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        let request = HTTPRequest(
            method: "POST", target: "/v1/devices", fields: ["Content-Type": "text/plain"], body: Array("{}".utf8))
        #expect(await api.respond(to: request).status == 415)
    }

    @Test func `plain http to another host is refused before anything is sent`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let before = house.exchanges.all.count
        let flow = try await house.signIn(ada, issuer: "http://idp.example/acme")
        #expect(flow.reason == "invalidConfig" || flow.reason == "notEnrolled")
        let hinted = try await house.signIn(ada, hint: "a@b.test", issuer: "http://idp.example/acme")
        #expect(hinted.reason == "invalidConfig")
        await #expect(throws: EngineError.hostNotAllowed("api.example")) {
            try await house.engine.fetch(APIRequest(url: try HTTPURL("https://api.example/")), device: ada)
        }
        #expect(house.exchanges.all.count == before)
    }
}

extension HTTPRequest {
    /// A request with a JSON body.
    fileprivate static func json(_ method: String, _ path: String, _ body: String) -> HTTPRequest {
        HTTPRequest(
            method: method, target: path, fields: ["Content-Type": "application/json"], body: Array(body.utf8))
    }

    /// A request without a body.
    fileprivate static func get(_ path: String) -> HTTPRequest { HTTPRequest(method: "GET", target: path) }
}
