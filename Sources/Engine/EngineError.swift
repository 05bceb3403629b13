public import Device
public import SignIn

/// Why the engine did not do what it was asked.
///
/// A sign-in that fails is no error: it is a flow that ended, with its reason.
public enum EngineError: Error, Sendable, Hashable {
    /// No device has this id.
    case noSuchDevice(String)
    /// A device with this id exists already.
    case deviceExists(String)
    /// No flow has this id.
    case noSuchFlow(String)
    /// The device has no such enrolment.
    case noSuchEnrolment(issuer: String, email: String)
    /// The device holds no session.
    case noSession(String)
    /// Only a parked flow can be retried; this one is in the state named.
    case notParked(flow: String, state: String)
    /// Only a flow whose camera waits can be shown a scan; this one is in the state named.
    case notWaiting(flow: String, state: String)
    /// The flow has ended in the state named.
    case alreadyEnded(flow: String, state: String)
    /// The flow has no shared secret to give: it has not signed in, or ran no decapsulation.
    case noSecret(flow: String)
    /// The flow's shared secret was taken before.
    case secretTaken(flow: String)
    /// The process that held the flow's shared secret has ended.
    case secretGone(flow: String)
    /// A host that is not loopback and was not allowed by name.
    case hostNotAllowed(String)
    /// A value breaks a rule.
    case invalid(field: String, rule: String, value: String)
    /// No answer came from the host.
    case unreachable(url: String, why: String)
    /// The phone's process ended in the middle of it, by a planned fault.
    case processEnded(String)
    /// The identity provider said no.
    case refused(call: String, status: Int, error: String, description: String?)
    /// The identity provider refused an enrolment for want of good evidence about the app.
    case attestationRefused(status: Int, error: String, description: String?)
    /// The identity provider's answer could not be used.
    case badAnswer(call: String, why: String)
    /// The whole world cannot be saved or replaced while so many flows or exchanges are under way.
    case flowsUnderWay(Int)
    /// The whole world is being saved or replaced.
    case worldBusy
    /// The session was not renewed.
    case refresh(RefreshError)
    /// The phone's platform gives no evidence.
    case attestation(AttestationError)
    /// An event of a phone's life that makes no sense as the phone is.
    case outOfPlace(event: String, why: String)
    /// The state directory could not be read or written.
    case storage(String)

    /// A stable name for this error, for the control API, reports and tests.
    public var code: String {
        switch self {
        case .noSuchDevice: "no_device"
        case .deviceExists: "already_exists"
        case .noSuchFlow, .noSuchEnrolment, .noSession: "not_found"
        case .notParked: "not_parked"
        case .notWaiting: "not_waiting"
        case .alreadyEnded: "already_ended"
        case .noSecret: "no_secret"
        case .secretTaken: "secret_taken"
        case .secretGone: "secret_gone"
        case .hostNotAllowed: "host_not_allowed"
        case .invalid: "invalid_field"
        case .unreachable: "unreachable"
        case .processEnded: "process_ended"
        case .refused: "idp_refused"
        case .attestationRefused: "attestation_refused"
        case .badAnswer: "bad_answer"
        case .flowsUnderWay: "flows_under_way"
        case .worldBusy: "world_busy"
        case .refresh(let error): error.code
        case .attestation(let error): error.code
        case .outOfPlace: "out_of_place"
        case .storage: "storage"
        }
    }
}

extension EngineError: CustomStringConvertible {
    /// What happened and what to do about it, in a sentence without secrets.
    public var description: String {
        switch self {
        case .noSuchDevice(let id): "there is no device '\(id)'; create it with `understudy device create \(id)`"
        case .deviceExists(let id): "a device '\(id)' exists already"
        case .noSuchFlow(let id): "there is no flow '\(id)'"
        case .noSuchEnrolment(let issuer, let email): "the device is not enrolled as '\(email)' at \(issuer)"
        case .noSession(let id): "device '\(id)' holds no session; sign in first"
        case .notParked(let id, let state): "flow '\(id)' is \(state), and only a parked flow can be retried"
        case .notWaiting(let id, let state): "flow '\(id)' is \(state), and its camera waits for no scan"
        case .alreadyEnded(let id, let state): "flow '\(id)' has ended already: \(state)"
        case .noSecret(let id): "flow '\(id)' has no shared secret: it has not signed in with a decapsulation"
        case .secretTaken(let id): "the shared secret of flow '\(id)' was taken; it is given once"
        case .secretGone(let id):
            "the shared secret of flow '\(id)' is gone: it is kept in memory alone, and its process has ended"
        case .hostNotAllowed(let host): "'\(host)' is not loopback; allow it by name with --allow-host \(host)"
        case .invalid(let field, let rule, let value): "\(field): \(rule), not '\(value)'"
        case .unreachable(let url, let why): "no answer from \(url): \(why)"
        case .processEnded(let id):
            "the process of device '\(id)' ended here, by a planned fault; start it with `understudy device life \(id) "
                + "relaunch`"
        case .refused(let call, let status, let error, let description):
            "\(call) was refused: \(status) \(error)" + (description.map { " (\($0))" } ?? "")
        case .attestationRefused(let status, let error, let description):
            "the enrolment was refused for its evidence about the app: \(status) \(error)"
                + (description.map { " (\($0))" } ?? "")
                + "; `understudy device attestation` shows what this phone says of itself, and the tenant's findings"
                + " name the rule"
        case .badAnswer(let call, let why): "the answer to \(call) cannot be used: \(why)"
        case .flowsUnderWay(let count):
            "\(count) flows or calls are under way; wait until they have ended or are parked, or cancel them"
        case .worldBusy: "the whole world is being saved or replaced; try again"
        case .refresh(let error): error.message
        case .attestation(let error): error.description
        case .outOfPlace(let event, let why): "'\(event)' makes no sense now: \(why)"
        case .storage(let why): "the state directory failed: \(why)"
        }
    }
}
