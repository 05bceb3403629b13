import Device
import Encoding
import Foundation
import Store
import Testing

/// A directory that is gone when the test is.
final class ScratchDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "understudy-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Where a store in here keeps its directory; the store makes it.
    var store: String { path + "/store" }
    var database: String { store + "/understudy.db" }

    func mode(_ file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}

/// One constructor for each record, with defaults everywhere: what a test sets is what it is about.
enum Make {
    static let now = Instant(seconds: 1_790_000_000)

    static func id(_ text: String = "pixel") throws -> DeviceID {
        try #require(DeviceID(rawValue: text))
    }

    static func device(
        _ id: String = "pixel", clock: DeviceClock = .real, camera: Camera = Camera()
    ) throws -> VirtualDevice {
        VirtualDevice(
            id: try Make.id(id), platform: .android, clock: clock, camera: camera,
            face: try #require(Face(secret: Array(repeating: 7, count: 32))),
            installKey: KeyHandle(rawValue: "dpop"), createdAt: now)
    }

    static func key(_ handle: String = "dpop", purpose: KeyPurpose = .dpop, invalidated: Bool = false) -> StoredKey {
        StoredKey(
            handle: KeyHandle(rawValue: handle), purpose: purpose, scalar: Array(repeating: 9, count: 32),
            createdAt: now, invalidated: invalidated)
    }

    static func enrolment(issuer: String = "https://idp.example/acme", kid: String = "kid-1") -> Enrolment {
        Enrolment(
            issuer: issuer, email: "ann@example.com", subject: "sub-1", kid: kid, key: KeyHandle(rawValue: "key-1"),
            createdAt: now)
    }

    static func session(access: String = "access-1", refresh: String? = "refresh-1") -> TokenSession {
        TokenSession(
            issuer: "https://idp.example/acme", clientID: "app_demo", resource: nil, accessToken: access,
            expiresAt: now.adding(seconds: 300), refreshToken: refresh, scope: ["openid", "offline_access"],
            claims: #"{"sub":"sub-1"}"#, subject: "sub-1", createdAt: now,
            tokenEndpoint: "https://idp.example/acme/token", revocationEndpoint: nil)
    }

    static func flow(
        _ id: String = "flow-1", device: String = "pixel", phase: String = "starting", isTerminal: Bool = false,
        at seconds: Int64 = 0, body: [UInt8] = [1, 2, 3]
    ) throws -> FlowRecord {
        FlowRecord(
            id: id, device: try Make.id(device), phase: phase, isTerminal: isTerminal, isParked: false,
            updatedAt: now.adding(seconds: seconds), body: body)
    }
}

/// A store in memory that holds the devices named.
func store(with devices: String...) throws -> Store {
    let store = try Store.inMemory()
    for id in devices {
        let device = try Make.device(id)
        try store.write { try $0.insert(device) }
    }
    return store
}
