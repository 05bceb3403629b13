import Device
import Encoding
import HTTP
import OAuth
import SignIn
import Store

extension Engine {
    /// The most devices one look is about, and the most issuers it asks.
    private static let deviceLimit = 200
    private static let issuerLimit = 32

    /// Looks at clocks, enrolments and issuers; asks every issuer in use for its metadata, all at once.
    ///
    /// Takes as long as the slowest issuer, at most the time a call may take. Throws `.storage`.
    public func examine() async throws(EngineError) -> PhoneReport {
        let found = try storing {
            try world.store.read { store in
                try store.devices(limit: Self.deviceLimit + 1, after: nil).map { device in
                    (device: device, issuers: try store.enrolments(of: device.id).map(\.issuer))
                }
            }
        }
        let looked = found.prefix(Self.deviceLimit)
        let wall = world.clock.now()
        var diagnoses = looked.flatMap { clockDiagnoses(of: $0.device, wall: wall) }
        diagnoses += looked.filter(\.issuers.isEmpty).map { Self.notEnrolled($0.device) }
        diagnoses += await self.diagnoses(ofIssuers: Set(looked.flatMap(\.issuers)).sorted().prefix(Self.issuerLimit))
        if looked.isEmpty {
            diagnoses.append(
                PhoneDiagnosis(
                    .notice, "devices.none", "there is no device", remedy: "make one: understudy device create NAME"))
        }
        let ordered = PhoneDiagnosis.Severity.allCases.flatMap { severity in
            diagnoses.filter { $0.severity == severity }
        }
        return PhoneReport(diagnoses: ordered, devices: looked.count, isPartial: found.count > looked.count)
    }

    private func clockDiagnoses(of device: VirtualDevice, wall: Instant) -> [PhoneDiagnosis] {
        guard device.clock != .real else { return [] }
        let skew = device.clock.now(wall: wall).seconds(since: wall)
        let place = skew < 0 ? "\(-skew) s behind" : "\(skew) s ahead of"
        let frozen = if case .frozen = device.clock { true } else { false }
        return [
            PhoneDiagnosis(
                .warning, "device.clock", device: device.id.rawValue,
                "its clock is \(place) this machine's\(frozen ? " and stands still" : ""): servers refuse proofs out of time",
                remedy: "put it back: understudy device clock \(device.id.rawValue) real")
        ]
    }

    private static func notEnrolled(_ device: VirtualDevice) -> PhoneDiagnosis {
        PhoneDiagnosis(
            .notice, "device.not_enrolled", device: device.id.rawValue,
            "it is enrolled nowhere: every sign-in ends in notEnrolled before the first call",
            remedy: "enrol it: understudy enrol --device \(device.id.rawValue) --issuer URL --ticket TICKET")
    }

    private func diagnoses(ofIssuers issuers: some Collection<String>) async -> [PhoneDiagnosis] {
        await withTaskGroup(of: PhoneDiagnosis?.self) { group in
            for issuer in issuers { group.addTask { await self.diagnosis(ofIssuer: issuer) } }
            var found: [PhoneDiagnosis] = []
            for await diagnosis in group { if let diagnosis { found.append(diagnosis) } }
            return found.sorted { ($0.issuer ?? "") < ($1.issuer ?? "") }
        }
    }

    private func diagnosis(ofIssuer issuer: String) async -> PhoneDiagnosis? {
        if let url = try? HTTPURL(issuer), let objection = world.network.policy.objection(to: url) {
            return PhoneDiagnosis(
                .error, "issuer.host", issuer: issuer, "devices are enrolled there, and the phone may not call it",
                remedy: objection.description)
        }
        switch await world.metadata.discover(issuer, world: world).result {
        case .found(let metadata) where metadata.authorizationChallengeEndpoint == nil:
            return PhoneDiagnosis(
                .error, "issuer.first_party", issuer: issuer, "its metadata names no authorization_challenge_endpoint",
                remedy: "turn in-app sign-in on there, or enrol at another issuer")
        case .found: return nil
        case .failed(.unreachable(let detail)):
            return PhoneDiagnosis(
                .error, "issuer.unreachable", issuer: issuer, "it does not answer: \(detail)",
                remedy: "start it, or forget the enrolments there")
        case .failed(.unavailable(let status, _)):
            return PhoneDiagnosis(
                .warning, "issuer.unavailable", issuer: issuer, "its metadata address answered \(status)",
                remedy: "try again later")
        case .failed(.invalid(let error)):
            return PhoneDiagnosis(
                .error, "issuer.metadata", issuer: issuer, "its metadata cannot be used: \(error)",
                remedy: "have the issuer's metadata document put right")
        }
    }
}
