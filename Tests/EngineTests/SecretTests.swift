import Control
import Crypto
import Device
import Encoding
import Engine
import HTTP
import SignIn
import Store
import Testing
import Transport

/// What must never be seen: tokens, private keys, face secrets, verifiers, codes.
@Suite struct SecretTests {
    @Test func `no secret of a run stands in what the program shows`() async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        let ada = try await house.phone()
        let good = try await house.signIn(ada, scans: [.mismatch, .match], faults: ["lose-reply:token"])
        let parked = try await house.signIn(ada, scans: [.match], faults: ["drop:completion:2"])
        let failed = try await house.signIn(ada, scans: [.mismatch, .mismatch, .mismatch])
        _ = try await house.engine.fetch(APIRequest(url: try HTTPURL(house.api + "/accounts")), device: ada)

        var shown: [String] = []
        for path in [
            "/v1/devices", "/v1/devices/ada", "/v1/devices/ada/session", "/v1/flows", "/v1/journal?limit=10000",
            "/v1/flows/\(good.id)", "/v1/flows/\(parked.id)", "/v1/flows/\(failed.id)", "/v1/idps",
        ] {
            let response = await api.respond(to: HTTPRequest(method: "GET", target: path))
            #expect(response.status == 200, "\(path)")
            shown.append(String(decoding: response.body, as: UTF8.self))
        }
        for view in [good, parked, failed] { shown += ["\(view.state)", String(reflecting: view.state)] }
        for path in ["/findings", "/state"] { shown.append(try house.manage("GET", path).text) }
        let device = try await house.engine.device(ada)
        shown += ["\(device.device)", String(reflecting: device.device), "\(String(describing: device.session))"]

        let secrets = try await Secrets(of: house, phone: ada)
        #expect(secrets.count > 15)
        for (name, secret) in secrets.all {
            for (index, text) in shown.enumerated() {
                #expect(!text.contains(secret), "\(name) is shown in text \(index)")
            }
        }
    }

    @Test func `tokens are shown to a person who asks for them`() async throws {
        let house = try await House.open()
        let api = ControlAPI(engine: house.engine, version: "test")
        let ada = try await house.phone()
        _ = try await house.signIn(ada, scans: [.match])
        let response = await api.respond(
            to: HTTPRequest(method: "GET", target: "/v1/devices/ada/session?show_tokens=true"))
        let session = try #require(try await house.engine.session(of: ada)).session
        #expect(try JSON(parsing: response.body)["access_token"]?.string == session.accessToken)
    }
}

/// Every secret of a run: what went over the wire and what the store holds.
private struct Secrets {
    private(set) var all: [(name: String, value: String)] = []

    var count: Int { all.count }

    init(of house: House, phone: DeviceID) async throws {
        for exchange in house.exchanges.all {
            if let form = try? FormFields(decoding: exchange.request.body) {
                for name in ["auth_session", "code", "code_verifier", "refresh_token", "token", "face_token"] {
                    add(name, form[name])
                }
            }
            let bodies = [exchange.request.body, exchange.response?.body ?? []]
            for document in bodies.compactMap({ try? JSON(parsing: $0) }) {
                for name in [
                    "auth_session", "authorization_code", "access_token", "refresh_token", "id_token", "face_token",
                    "ticket",
                ] {
                    add(name, document[name]?.string)
                }
            }
            add("authorization", exchange.request.fields["Authorization"].map { String($0.dropFirst(5)) })
        }
        let keys = try house.store.read { try $0.keys(of: phone) }
        for key in keys {
            add("private key", Base64URL.encode(key.scalar))
            add("private key", Hex.encode(key.scalar))
        }
        let device = try #require(try house.store.read { try $0.device(phone) })
        add("face", Base64URL.encode(device.face.secret))
        add("face", Hex.encode(device.face.secret))
        add("face", "\(device.face.secret)")
    }

    private mutating func add(_ name: String, _ value: String?) {
        guard let value, value.count >= 16, !all.contains(where: { $0.value == value }) else { return }
        all.append((name, value))
    }
}
