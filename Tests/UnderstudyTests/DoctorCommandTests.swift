import Control
import Encoding
import Engine
import Foundation
import Testing

@testable import understudy

struct DoctorCommandTests {
    @Test func `the IdP's doctor warns and ends well, and ends ill where sign-in cannot work`() async throws {
        let stage = try await Stage.open()
        let ran = await stage.runner.run("idp", "doctor")
        #expect(ran.exit == .done)
        #expect(ran.out.contains("warning  tenant.attestation  acme  app_demo"))
        #expect(ran.out.contains("what to do: "))
        let one = try await stage.runner.run("idp", "doctor", "--issuer", stage.issuer, "--json").document()
        #expect(one["diagnoses"]?.array?.allSatisfy { $0["tenant"] == "acme" } == true)
        let api = try stage.remote(stage.idp.served.management)
        _ = try await api.document("PATCH", "/manage/tenants/acme", body: ["runs_own_app": false])
        let broken = await stage.runner.run("idp", "doctor")
        #expect(broken.exit == .failed)
        #expect(broken.out.contains("error  application.tenant_app  acme  app_demo"))
    }

    @Test func `the phone's doctor tells of devices without enrolment`() async throws {
        let stage = try await Stage.open()
        #expect(await stage.runner.run("device", "create", "ada").exit == .done)
        let ran = await stage.runner.run("doctor")
        #expect(ran.exit == .done)
        #expect(ran.out.contains("device.not_enrolled  ada"))
    }

    @Test func `a directory others may look into is told with what to do`() throws {
        let scratch = try Scratch()
        let path = scratch.path + "/state"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let reader = CommandLineReader(table: Commands.table, environment: [:])
        guard case .run(let parsed) = try reader.read(["doctor", "--state", path]) else {
            Issue.record("not understood")
            return
        }
        let settings = try Settings(parsed, environment: [:])
        #expect(DoctorCommand.directory(settings).map(\.remedy) == ["chmod 700 \(path)"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(DoctorCommand.directory(settings).isEmpty)
    }

    @Test func `proxy variables are told, empty ones are not`() {
        #expect(DoctorCommand.proxies(["https_proxy": "", "HOME": "/"]).isEmpty)
        #expect(DoctorCommand.proxies(["ALL_PROXY": "http://p.example"]).map(\.rule) == ["network.proxy"])
    }
}
