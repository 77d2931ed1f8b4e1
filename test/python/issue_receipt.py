"""What a customer writes who generates a client from openapi.json: issues an e-Ticket and reads its verdict.

Environment: BASE_URL (with /v1), API_KEY, RUT, TODAY (YYYY-MM-DD). The generated package `cfe_client` is on the path.
Prints the CFE as JSON.
"""

import json
import os
from datetime import date

from cfe_client import AuthenticatedClient, Client
from cfe_client.api.access_tokens import create_token
from cfe_client.api.cf_es import get_cfe, issue_cfe
from cfe_client.models import (
    CfeDocId,
    CfeHeader,
    CfeLine,
    CfeTotals,
    CfeType,
    CreateTokenRequest,
    Currency,
    InvalidInputError,
    IssueCfeRequest,
    IvaType,
    PaymentMethod,
)

base_url, api_key, rut = (os.environ[name] for name in ("BASE_URL", "API_KEY", "RUT"))
today = date.fromisoformat(os.environ["TODAY"])
key = {"X-API-Key": api_key}

issued_token = create_token.sync(client=Client(base_url=base_url, headers=key), body=CreateTokenRequest())
token = issued_token.data.access_token
client = AuthenticatedClient(base_url=base_url, token=token, headers=key, timeout=60)

receipt = IssueCfeRequest(
    cfe_type=CfeType.ETICKET,
    header=CfeHeader(
        doc_id=CfeDocId(emission_date=today, payment_method=PaymentMethod.CASH),
        totals=CfeTotals(
            currency=Currency.UYU,
            exchange_rate=1,
            tax_basic_net_amount=100,
            tax_basic_amount=22,
            total_amount=122,
            pay_amount=122,
            line_count=1,
        ),
    ),
    details=[
        CfeLine(
            line_number=1,
            iva_type=IvaType.BASIC_RATE,
            item_name="Café molido 250 g",
            count=1,
            unit_price=100,
            item_amount=100,
        )
    ],
)

# A refusal is a value of its own type, with every fault.
receipt.header.totals.pay_amount = 121
refused = issue_cfe.sync(rut, client=client, body=receipt)
assert isinstance(refused, InvalidInputError), refused
assert [fault.code for fault in refused.error.details.fields] == ["totals.pay_amount"], refused
receipt.header.totals.pay_amount = 122

issued = issue_cfe.sync(
    rut, client=client, body=receipt, idempotency_key=f"python-{today}", prefer="wait=30"
)
read = get_cfe.sync(rut, issued.data.cfe_id, client=client)
print(json.dumps(read.data.items[0].to_dict()))
