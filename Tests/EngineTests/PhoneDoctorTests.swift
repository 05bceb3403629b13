import Control
import Device
import Encoding
import Engine
import Store
import Testing

@Suite struct PhoneDoctorTests {
    private func rules(_ house: House) async throws -> [String] {
        try await house.engine.examine().diagnoses.map { "\($0.severity.rawValue) \($0.rule)" }
    }

    @Test func `an enrolled device with a right clock and an issuer that answers is well`() async throws {
        let house = try await House.open()
        #expect(try await rules(house) == ["notice devices.none"])
        _ = try await house.phone()
        #expect(try await rules(house) == [])
    }

    @Test func `clocks and devices without enrolment are told, worst first`() async throws {
        let house = try await House.open()
        let ada = try await house.phone()
        let bob = try #require(DeviceID(rawValue: "bob"))
        _ = try house.engine.createDevice(bob)
        _ = try await house.engine.updateDevice(ada) { $0.clock = .offset(seconds: -90) }
        let found = try await house.engine.examine().diagnoses
        #expect(found.map(\.rule) == ["device.clock", "device.not_enrolled"])
        #expect(found.map(\.device) == ["ada", "bob"])
        #expect(found.first?.problem.contains("90 s behind") == true)
    }

    @Test func `an issuer that is gone is an error`() async throws {
        let house = try await House.open()
        _ = try await house.phone()
        await house.idp.shutdown()
        let report = try await house.engine.examine()
        #expect(report.diagnoses.map(\.rule) == ["issuer.unreachable"])
        #expect(report.diagnoses.first?.issuer == house.issuer)
        #expect(report.devices == 1)
        #expect(!report.isPartial)
    }
}
