import Encoding
import HTTP

/// One call of the management API: its method, the pattern of its path, and what answers it.
struct ManagementRoute: Sendable {
    typealias Answer =
        @Sendable (inout SenseCryptIdP, inout ManagementCall, inout Turn) throws(Refusal) -> PendingReply

    let method: String
    let pattern: [String]
    let answer: Answer

    init(_ method: String, _ pattern: String, _ answer: @escaping Answer) {
        self.method = method
        self.pattern = pattern.split(separator: "/").map(String.init)
        self.answer = answer
    }

    /// The parameters of a path that fits the pattern, or nil.
    func match(_ segments: [String]) -> [String: String]? {
        guard segments.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (wanted, segment) in zip(pattern, segments) {
            if wanted.hasPrefix("{") {
                parameters[String(wanted.dropFirst().dropLast())] = segment
            } else if wanted != segment {
                return nil
            }
        }
        return parameters
    }

    /// The whole management API.
    static let all: [ManagementRoute] = [
        ManagementRoute("GET", "tenants") { idp, call, turn throws(Refusal) in try idp.listTenants(call) },
        ManagementRoute("POST", "tenants") { idp, call, turn throws(Refusal) in try idp.createTenant(&call, &turn) },
        ManagementRoute("GET", "tenants/{tenant}") { idp, call, turn throws(Refusal) in
            .json(200, try idp.realm(call).tenant.publicJSON)
        },
        ManagementRoute("PATCH", "tenants/{tenant}") { idp, call, turn throws(Refusal) in
            try idp.changeTenant(&call, &turn)
        },
        ManagementRoute("DELETE", "tenants/{tenant}") { idp, call, turn throws(Refusal) in
            try idp.deleteTenant(call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/policy") { idp, call, turn throws(Refusal) in
            .json(200, try idp.realm(call).tenant.policy.json)
        },
        ManagementRoute("PATCH", "tenants/{tenant}/policy") { idp, call, turn throws(Refusal) in
            try idp.changePolicy(&call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/rules") { idp, call, turn throws(Refusal) in
            .json(200, try idp.realm(call).rulesJSON)
        },
        ManagementRoute("PUT", "tenants/{tenant}/rules") { idp, call, turn throws(Refusal) in
            try idp.switchRules(&call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/inbox") { idp, call, turn throws(Refusal) in try idp.readInbox(call) },
        ManagementRoute("GET", "tenants/{tenant}/applications") { idp, call, turn throws(Refusal) in
            try idp.listApplications(call)
        },
        ManagementRoute("POST", "tenants/{tenant}/applications") { idp, call, turn throws(Refusal) in
            try idp.createApplication(&call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/applications/{client}") { idp, call, turn throws(Refusal) in
            .json(200, .object(try idp.application(call).publicJSON))
        },
        ManagementRoute("PATCH", "tenants/{tenant}/applications/{client}") { idp, call, turn throws(Refusal) in
            try idp.changeApplication(&call, &turn)
        },
        ManagementRoute("DELETE", "tenants/{tenant}/applications/{client}") { idp, call, turn throws(Refusal) in
            try idp.deleteApplication(call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/users") { idp, call, turn throws(Refusal) in try idp.listUsers(call) },
        ManagementRoute("POST", "tenants/{tenant}/users") { idp, call, turn throws(Refusal) in
            try idp.createUser(&call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/users/{user}") { idp, call, turn throws(Refusal) in
            .json(200, try idp.user(call).json)
        },
        ManagementRoute("PATCH", "tenants/{tenant}/users/{user}") { idp, call, turn throws(Refusal) in
            try idp.changeUser(&call, &turn)
        },
        ManagementRoute("DELETE", "tenants/{tenant}/users/{user}") { idp, call, turn throws(Refusal) in
            try idp.deleteUser(call, &turn)
        },
        ManagementRoute("POST", "tenants/{tenant}/users/{user}/tickets") { idp, call, turn throws(Refusal) in
            try idp.createTicket(call, &turn)
        },
        ManagementRoute("POST", "tenants/{tenant}/users/{user}/import") { idp, call, turn throws(Refusal) in
            try idp.importFaceToken(&call, &turn)
        },
        ManagementRoute("POST", "tenants/{tenant}/users/{user}/revoke") { idp, call, turn throws(Refusal) in
            try idp.revokeGrants(call, &turn)
        },
        ManagementRoute("DELETE", "tenants/{tenant}/users/{user}/devices/{kid}") { idp, call, turn throws(Refusal) in
            try idp.removeDevice(call, &turn)
        },
        ManagementRoute("GET", "tenants/{tenant}/doctor") { idp, call, turn throws(Refusal) in
            try idp.examineTenant(call, turn)
        },
        ManagementRoute("GET", "doctor") { idp, call, turn throws(Refusal) in idp.examineAll(turn) },
        ManagementRoute("GET", "clock") { idp, call, turn throws(Refusal) in idp.readClock(turn) },
        ManagementRoute("PUT", "clock") { idp, call, turn throws(Refusal) in try idp.setClock(&call, &turn) },
        ManagementRoute("POST", "clock") { idp, call, turn throws(Refusal) in try idp.moveClock(&call, &turn) },
        ManagementRoute("GET", "findings") { idp, call, turn throws(Refusal) in try idp.listFindings(call) },
        ManagementRoute("GET", "state") { idp, call, turn throws(Refusal) in idp.dumpState(turn) },
        ManagementRoute("POST", "reset") { idp, call, turn throws(Refusal) in idp.reset(&turn) },
    ]
}

extension SenseCryptIdP {
    /// Answers a call of the management API.
    ///
    /// A refused call changes nothing.
    mutating func manage(_ request: ManagementRequest, _ turn: inout Turn) throws(Refusal) -> PendingReply {
        let matches = ManagementRoute.all.compactMap { route in
            route.match(request.segments).map { (route: route, parameters: $0) }
        }
        guard !matches.isEmpty else { throw .problem(404, "not_found", "there is nothing at this path") }
        guard let match = matches.first(where: { $0.route.method == request.method }) else {
            let methods = matches.map(\.route.method).joined(separator: ", ")
            var refusal = Refusal.problem(405, "method_not_allowed", "this path takes \(methods)")
            refusal.fields = [("Allow", methods)]
            throw refusal
        }
        guard let query = request.query else { throw .problem(400, "malformed_query", "the query is not well-formed") }
        let fields = ManagementFields(try object(request.body))
        var call = ManagementCall(parameters: match.parameters, query: query, fields: fields)
        if request.method == "GET" || request.method == "DELETE" { try call.fields.end() }
        return try match.route.answer(&self, &call, &turn)
    }

    private func object(_ body: ManagementRequest.Body) throws(Refusal) -> JSONObject {
        switch body {
        case .none: return JSONObject()
        case .object(let object): return object
        case .malformed(let fault): throw .problem(400, "malformed_json", fault)
        case .foreign: throw .problem(415, "unsupported_media_type", "the body must be application/json")
        }
    }

    /// The realm a path names.
    func realm(_ call: ManagementCall) throws(Refusal) -> Realm {
        guard let realm = realms[call["tenant"]] else { throw .problem(404, "not_found", "no such tenant") }
        return realm
    }

    /// Changes the realm a path names, which exists.
    ///
    /// A refusal leaves it as it was only if the change refuses before it writes: every change here reads all fields
    /// first.
    mutating func change(
        _ call: ManagementCall, _ change: (inout Realm) throws(Refusal) -> PendingReply
    ) throws(Refusal) -> PendingReply {
        guard let reply = try realms.update(call["tenant"], change) else {
            throw .problem(404, "not_found", "no such tenant")
        }
        return reply
    }

    /// A page of a listing, with where to go on.
    func listing<Value>(
        _ name: String, _ page: [(key: String, value: Value)], limit: Int, _ json: (Value) -> JSON
    ) -> PendingReply {
        let next: JSON = page.count == limit ? page.last.map { .string($0.key) } ?? .null : .null
        return .json(200, .object([(name, .array(page.map { json($0.value) })), ("next", next)]))
    }
}
