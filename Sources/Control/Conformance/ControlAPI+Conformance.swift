import Conformance
import Crypto
import Device
import Encoding
import Engine
import HTTP
import Transport

/// Judging identity providers with a phone of this engine.
extension ControlAPI {
    func listConformanceRules() -> HTTPResponse {
        .json([
            "rules": .array(
                Conformance.rules.map {
                    ["rule": .string($0.rule), "source": .string($0.source), "wanted": .string($0.wanted)]
                })
        ])
    }

    /// Begins a run and answers with its name.
    func startConformance(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(
            of: request,
            allowing: [
                "issuer", "client_id", "device", "ticket", "api", "api_path", "management", "only", "wait", "attest",
                "spare_ticket",
                "attestation_enforced",
            ])
        let order = try ConformanceOrder(fields)
        guard !conformance.isBusy else {
            throw ControlProblem(status: 409, code: "busy", detail: "another conformance run is under way")
        }
        let id = "c-" + engine.surroundings.entropy.token(12)
        conformance.open(id)
        let (engine, runs) = (engine, conformance)
        Task {
            let bench = EngineBench(engine, order)
            do throws(ProbeFault) {
                let setup = try await bench.setup()
                let matrix = try await Conformance.run(setup) { runs.add($0, to: id) }
                await bench.tidy()
                runs.end(id, .judged(matrix))
            } catch {
                await bench.tidy()
                runs.end(id, .notJudged(error))
            }
        }
        return .json(["id": .string(id)], status: 202)
    }

    /// How far a run is: the rows behind the first `after`, and whether it is done.
    ///
    /// Waits a little for news.
    func showConformance(_ id: String, _ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let query = try QueryFields(of: request, allowing: ["after"])
        let after = try query.number("after", in: 0...100_000, or: 0)
        for _ in 0..<100 {
            guard let run = conformance[id] else { throw .notFound("there is no conformance run '\(id.prefix(80))'") }
            if run.outcome != nil || run.rows.count > after { return .json(run.json(after: after)) }
            guard (try? await Task.sleep(for: .milliseconds(100))) != nil else { break }
        }
        return .json((conformance[id] ?? ConformanceRuns.Run()).json(after: after))
    }
}

extension ConformanceRuns.Run {
    fileprivate func json(after: Int) -> JSON {
        var body = JSONObject([("done", .bool(outcome != nil)), ("rows", .array(rows.dropFirst(after).map(\.json)))])
        switch outcome {
        case .judged(let matrix): body["matrix"] = matrix.json
        case .notJudged(let fault):
            body["fault"] = ["code": .string(fault.code), "message": .string(fault.description)]
        case nil: break
        }
        return .object(body)
    }
}

/// What somebody wants judged.
struct ConformanceOrder: Sendable {
    let issuer: String
    let clientID: String
    let phone: Phone
    let api: HTTPURL?
    let apiPath: String?
    let management: HTTPURL?
    let only: Set<String>?
    let waits: Bool
    /// What a start brings where evidence is wanted; nil is what the phone's platform has.
    let evidence: EvidenceFormat?
    /// An unused ticket for the rows about enrolment.
    let spareTicket: String?
    /// Whether the issuer is known to enforce attestation.
    let enforcesAttestation: Bool

    /// The phone to judge with: one there is, or one made with a ticket for the run alone.
    enum Phone: Sendable {
        case device(DeviceID)
        case ticket(String)
    }

    init(_ fields: BodyFields) throws(ControlProblem) {
        issuer = try fields.string("issuer", "the tenant's issuer")
        clientID = try fields.string("client_id", "the opted-in application")
        let (device, ticket) = (try fields.optionalString("device"), try fields.optionalString("ticket"))
        switch (device, ticket) {
        case (let id?, nil):
            guard let id = DeviceID(rawValue: id) else {
                throw .invalid("device", "the id of a device", got: .string(id))
            }
            phone = .device(id)
        case (nil, let ticket?): phone = .ticket(ticket)
        default: throw .missing("device", "either 'device' or 'ticket'")
        }
        api = try Self.url(fields, "api")
        apiPath = try fields.optionalString("api_path")
        management = try Self.url(fields, "management")
        waits = try fields.flag("wait")
        spareTicket = try fields.optionalString("spare_ticket")
        evidence = try Self.evidence(try fields.optionalString("attest"))
        enforcesAttestation = try fields.flag("attestation_enforced")
        let names = try fields.strings("only")
        let known = Conformance.rules.map(\.rule)
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw .invalid("only", "names of rules", got: .string(unknown))
        }
        only = names.isEmpty ? nil : Set(names)
    }

    /// A format a run may begin with: an assertion comes of itself once an attestation was taken.
    private static func evidence(_ name: String?) throws(ControlProblem) -> EvidenceFormat? {
        guard let name, name != "auto" else { return nil }
        guard let format = EvidenceFormat(rawValue: name), format != .appAttestAssertion else {
            let known = EvidenceFormat.allCases.filter { $0 != .appAttestAssertion }.map(\.rawValue)
            throw .invalid("attest", "auto, " + known.joined(separator: ", "), got: .string(name))
        }
        return format
    }

    private static func url(_ fields: BodyFields, _ name: String) throws(ControlProblem) -> HTTPURL? {
        guard let text = try fields.optionalString(name) else { return nil }
        guard let url = try? HTTPURL(text) else {
            throw .invalid(name, "an absolute http or https URL", got: .string(text))
        }
        return url
    }
}
