import Device
import Encoding
import Engine
import HTTP
import SignIn

/// Why the control API refuses a request: a status, a stable code, and a sentence that names field and rule.
struct ControlProblem: Error {
    let status: Int
    let code: String
    let detail: String
    var field: String?
    var rule: String?

    /// A field whose value breaks a rule.
    static func invalid(_ field: String, _ rule: String, got value: JSON?) -> ControlProblem {
        let found = value.map { $0.string.map { "'\($0.prefix(80))'" } ?? $0.kind } ?? "nothing"
        return ControlProblem(
            status: 422, code: "invalid_field", detail: "\(field): \(rule), not \(found)", field: field, rule: rule)
    }

    /// A field that must be there.
    static func missing(_ field: String, _ rule: String) -> ControlProblem {
        ControlProblem(
            status: 422, code: "missing_field", detail: "\(field) is missing: \(rule)", field: field, rule: rule)
    }

    /// No such thing at this address.
    static func notFound(_ detail: String) -> ControlProblem {
        ControlProblem(status: 404, code: "not_found", detail: detail)
    }

    /// The problem as a response.
    var response: HTTPResponse {
        var extra: [(String, JSON)] = [("code", .string(code))]
        if let field { extra.append(("field", .string(field))) }
        if let rule { extra.append(("rule", .string(rule))) }
        return .problem(
            status: status, title: code.replacing("_", with: " "), detail: detail, type: "urn:understudy:error:\(code)",
            extra: extra)
    }
}

extension ControlProblem {
    /// The engine's refusal in the control API's terms.
    init(_ error: EngineError) {
        switch error {
        case .noSuchDevice, .noSuchFlow, .noSuchEnrolment, .noSession:
            self.init(status: 404, code: error.code, detail: error.description)
        case .deviceExists, .notParked, .notWaiting, .alreadyEnded, .noSecret, .flowsUnderWay, .worldBusy, .outOfPlace:
            self.init(status: 409, code: error.code, detail: error.description)
        case .refresh(.signInRequired):
            self.init(status: 409, code: error.code, detail: error.description)
        case .refresh(.network), .refresh(.server):
            self.init(status: 502, code: error.code, detail: error.description)
        case .secretTaken, .secretGone:
            self.init(status: 410, code: error.code, detail: error.description)
        case .hostNotAllowed:
            self.init(status: 403, code: error.code, detail: error.description)
        case .invalid(let field, let rule, _):
            self.init(status: 422, code: error.code, detail: error.description, field: field, rule: rule)
        case .unreachable, .processEnded, .refused, .attestationRefused, .badAnswer:
            self.init(status: 502, code: error.code, detail: error.description)
        case .attestation(.nothingToReplay(_)):
            self.init(status: 409, code: error.code, detail: error.description)
        case .attestation(.crypto(_)):
            self.init(status: 500, code: error.code, detail: error.description)
        case .attestation:
            self.init(status: 422, code: error.code, detail: error.description)
        case .storage:
            self.init(status: 500, code: error.code, detail: error.description)
        }
    }
}
