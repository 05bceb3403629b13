import Encoding
public import HTTP
import Profiles

extension SenseCryptIdP {
    /// Reads a request: routing, form and JSON, signatures.
    ///
    /// Touches no state.
    ///
    /// `deviceKey` is asked at most once, for the key of a signed device request, `clientKeys` at most once, for the
    /// keys of a client that brings an assertion, `attestation` at most twice, where there is evidence or a client's
    /// attestation, and `rulesOff` at most once, where the tenant is known. A body over the
    /// profile's limit is refused before it is looked at. Nothing a caller can send makes this fail.
    public static func intake(
        _ request: HTTPRequest, surface: IdPSurface = .identityProvider, caller: IdPCaller,
        settings: IdPSettings, deviceKey: DeviceKeyLookup, clientKeys: ClientKeyLookup = { _, _ in nil },
        attestation: AttestationLookup = { _, _ in nil }, rulesOff: RulesOffLookup = { _ in [] }
    ) -> Intake {
        withoutActuallyEscaping(deviceKey) { deviceKey in
            withoutActuallyEscaping(clientKeys) { clientKeys in
                withoutActuallyEscaping(rulesOff) { rulesOff in
                    withoutActuallyEscaping(attestation) { attestation in
                        let context = IntakeContext(
                            request: request, settings: settings, deviceKey: deviceKey, clientKeys: clientKeys,
                            attestation: attestation, rulesOff: rulesOff)
                        return intake(context, surface: surface, caller: caller)
                    }
                }
            }
        }
    }

    private static func intake(_ context: IntakeContext, surface: IdPSurface, caller: IdPCaller) -> Intake {
        let carriesProof = context.request.fields.contains("DPoP")
        switch surface {
        case .identityProvider:
            var intake = Router(context: context).identityProvider(caller: caller)
            if carriesProof || intake.isForChallenge { intake.nonceFrom = .identityProvider }
            intake.callerAddress = caller.address
            return intake
        case .resourceAPI:
            var intake = Router(context: context).resourceAPI()
            if carriesProof { intake.nonceFrom = .resourceAPI }
            return intake
        }
    }
}

/// Finds the endpoint of a path and has the request read for it.
struct Router {
    let context: IntakeContext

    private var request: HTTPRequest { context.request }
    private var paths: SenseCryptProfile.Paths { context.settings.profile.paths }
    private var errors: SenseCryptProfile.Errors { context.settings.profile.errors }

    /// An endpoint of a tenant: its name in findings, its methods, and how its requests are read.
    private struct Route {
        let name: String
        let methods: [String]
        let read: (Reading) throws(Refusal) -> Intake.Content
    }

    /// The endpoints under an issuer, by suffix.
    private func route(_ suffix: String) -> Route? {
        let ceremony = context.settings.profile.ceremonyPaths
        let stem = paths.ceremony
        return switch suffix {
        case paths.openidConfiguration: Route(name: "metadata", methods: ["GET", "HEAD"]) { _ in .metadata }
        case paths.jwks: Route(name: "jwks", methods: ["GET", "HEAD"]) { _ in .keySet }
        case paths.challenge: Route(name: "challenge", methods: ["POST"], read: ChallengeIntake.read)
        case paths.token: Route(name: "token", methods: ["POST"], read: TokenIntake.read)
        case paths.attestationChallenge:
            Route(name: "attestation-challenge", methods: ["POST"]) { _ in .attestationChallenge }
        case paths.revocation: Route(name: "revocation", methods: ["POST"], read: RevocationIntake.read)
        case stem + ceremony.faceToken: Route(name: "face-token", methods: ["POST"], read: CeremonyIntake.faceToken)
        case stem + ceremony.attempt: Route(name: "attempt", methods: ["POST"], read: CeremonyIntake.attempt)
        case stem + ceremony.abort: Route(name: "abort", methods: ["POST"], read: CeremonyIntake.abort)
        case stem + ceremony.signup: Route(name: "signup", methods: ["POST"], read: EnrolmentIntake.signup)
        case stem + ceremony.enroll: Route(name: "enroll", methods: ["POST"], read: EnrolmentIntake.enrolment)
        default: nil
        }
    }

    func identityProvider(caller: IdPCaller) -> Intake {
        let path = request.path
        if path == paths.management || path.hasPrefix(paths.management + "/") {
            return management(caller: caller)
        }
        if path.hasPrefix(paths.oauthMetadata + "/") {
            let tenant = String(path.dropFirst(paths.oauthMetadata.count + 1))
            return read(Route(name: "metadata", methods: ["GET", "HEAD"]) { _ in .metadata }, tenant: tenant)
        }
        let (tenant, suffix) = Self.split(path)
        guard let route = route(suffix) else { return refused(notFound(), endpoint: "unknown", tenant: nil) }
        return read(route, tenant: tenant)
    }

    func resourceAPI() -> Intake {
        let (tenant, _) = Self.split(request.path)
        guard request.body.count <= context.settings.profile.limits.resourceBodyBytes else {
            return refused(tooLarge(context.settings.profile.limits.resourceBodyBytes), endpoint: "api", tenant: tenant)
        }
        return Intake(
            endpoint: "api", tenant: tenant,
            content: .resource(ResourceRequest(context: context.at(tenant), tenant: tenant)))
    }

    private func management(caller: IdPCaller) -> Intake {
        guard caller.mayManage else {
            let refusal = Refusal(
                errors.accessDenied, rule: "manage.loopback", expected: "a loopback peer and a loopback Host",
                actual: caller.peerIsLoopback ? "another Host" : "another peer")
            return refused(refusal, endpoint: "manage", tenant: nil)
        }
        let limit = context.settings.profile.limits.bodyBytes
        guard request.body.count <= limit else {
            return refused(tooLarge(limit), endpoint: "manage", tenant: nil)
        }
        return Intake(
            endpoint: "manage", tenant: nil, content: .management(ManagementRequest(request, prefix: paths.management)))
    }

    private func read(_ route: Route, tenant: String) -> Intake {
        guard route.methods.contains(request.method) else {
            var refusal = Refusal(
                errors.methodNotAllowed, rule: "request.method", expected: route.methods.joined(separator: ", "),
                actual: Clipped.text(request.method))
            refusal.fields = [("Allow", route.methods.joined(separator: ", "))]
            return refused(refusal, endpoint: route.name, tenant: tenant)
        }
        let limit = context.settings.profile.limits.bodyBytes
        guard request.body.count <= limit else {
            return refused(tooLarge(limit), endpoint: route.name, tenant: tenant)
        }
        let reading = Reading(context: context.at(tenant), tenant: tenant)
        do {
            let content = try route.read(reading)
            return Intake(endpoint: route.name, tenant: tenant, clientID: content.clientID, content: content)
        } catch {
            var intake = refused(error, endpoint: route.name, tenant: tenant)
            intake.clientID = reading.clientID
            return intake
        }
    }

    private func refused(_ refusal: Refusal, endpoint: String, tenant: String?) -> Intake {
        Intake(endpoint: endpoint, tenant: tenant, content: .refused(refusal))
    }

    private func notFound() -> Refusal {
        Refusal(
            errors.notFound, rule: "request.path", expected: "an endpoint of a tenant",
            actual: Clipped.text(request.path))
    }

    private func tooLarge(_ limit: Int) -> Refusal {
        Refusal(
            errors.tooLarge, rule: "request.size", expected: "at most \(limit) bytes of body",
            actual: "\(request.body.count) bytes")
    }

    /// The first segment of a path, and the rest with its slash.
    private static func split(_ path: String) -> (tenant: String, suffix: String) {
        let inner = path.dropFirst()
        let slash = inner.firstIndex(of: "/") ?? inner.endIndex
        return (String(inner[..<slash]), String(inner[slash...]))
    }
}

/// A request at an endpoint, while it is read.
struct Reading {
    let context: IntakeContext
    let tenant: String

    var settings: IdPSettings { context.settings }
    var errors: SenseCryptProfile.Errors { context.settings.profile.errors }
    var limits: SenseCryptProfile.Limits { context.settings.profile.limits }
    var members: SenseCryptProfile.Members { context.settings.profile.members }
    var issuer: String { context.settings.issuer(tenant) }

    /// The `client_id` of a form, for findings; nil where there is no readable one.
    var clientID: String? {
        guard context.request.mediaType?.isForm ?? false, let form = try? FormFields(decoding: context.request.body)
        else { return nil }
        return form["client_id"].map { Clipped.text($0, limit: 128) }
    }

    /// Whether a rule is switched off for the tenant.
    func skips(_ rule: RuleSwitch) -> Bool { context.off.contains(rule) }

    /// A refusal of a malformed request.
    func malformed(_ rule: String, expected: String, actual: String) -> Refusal {
        let isUnreadable = ["request.content_type", "request.form", "request.json"].contains(rule)
        return Refusal(
            isUnreadable && skips(.answerMalformed) ? errors.serverError : errors.invalidRequest, rule: rule,
            expected: expected, actual: actual,
            detail: "\(rule.split(separator: ".").last.map(String.init) ?? rule): expected \(expected)")
    }
}

/// Text from outside, short enough and plain enough for a finding.
enum Clipped {
    static func text(_ text: String, limit: Int = 64) -> String {
        let plain = text.unicodeScalars.prefix(limit).map { $0.isASCII && $0.value >= 0x20 ? Character($0) : "?" }
        return String(plain) + (text.unicodeScalars.count > limit ? "…" : "")
    }
}
