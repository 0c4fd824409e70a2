"""Processes whose events change one amount: what raises it, what lowers it, and what it is called."""

from __future__ import annotations

from typing import NamedTuple

from evaluators.bizfinbench.language import Language


class Process(NamedTuple):
    """An amount, the situation, and actions of ``{change}`` that raise or lower it, by language."""

    name: str
    amount: dict[Language, str]
    raising: dict[Language, tuple[str, ...]]
    lowering: dict[Language, tuple[str, ...]]


PROCESSES: tuple[Process, ...] = (
    Process(
        "debt",
        {"en": "net debt", "cn": "净负债"},
        {
            "en": ("A factory is bought with {change} from {bank}", "A special dividend takes {change} on credit",
                   "An arbitration is lost and costs {change}"),
            "cn": ("向{bank}借款{change}收购工厂", "举债{change}派发特别股息", "仲裁败诉，支付{change}"),
        },
        {
            "en": ("The sale of a division brings {change}", "Overdue customers settle {change}",
                   "Holders convert notes of {change} into shares"),
            "cn": ("出售一个部门收回{change}", "逾期客户偿付{change}", "持有人将{change}票据转为股份"),
        },
    ),
    Process(
        "cash",
        {"en": "cash in hand", "cn": "现金余额"},
        {
            "en": ("A tax refund of {change} arrives", "{bank} pays out a loan of {change}",
                   "An insurer makes good a fire with {change}"),
            "cn": ("收到退税{change}", "{bank}发放贷款{change}", "保险公司赔付火灾损失{change}"),
        },
        {
            "en": ("Wages and bonuses consume {change}", "A licence is acquired for {change}",
                   "Suppliers insist on {change} in advance"),
            "cn": ("支付工资与奖金{change}", "购入许可证花费{change}", "供应商要求预付{change}"),
        },
    ),
    Process(
        "fund",
        {"en": "assets of the fund", "cn": "基金资产"},
        {
            "en": ("A pension scheme subscribes for {change}", "A rally adds {change}",
                   "A smaller fund is merged in with {change}"),
            "cn": ("养老金认购{change}", "行情上涨增加{change}", "并入一只规模为{change}的小基金"),
        },
        {
            "en": ("Savers redeem {change}", "A sell-off wipes out {change}", "Holders are paid out {change}"),
            "cn": ("投资者赎回{change}", "市场抛售蒸发{change}", "向持有人分红{change}"),
        },
    ),
    Process(
        "orders",
        {"en": "order book", "cn": "在手订单"},
        {
            "en": ("A railway commissions work of {change}", "An option of {change} is exercised by a client",
                   "A takeover adds contracts over {change}"),
            "cn": ("铁路公司委托{change}的工程", "客户行使{change}的选择权", "收购带来{change}的合同"),
        },
        {
            "en": ("Finished machines of {change} are delivered", "A customer withdraws from {change}",
                   "A contract over {change} is passed to a partner"),
            "cn": ("交付成品设备{change}", "客户取消{change}", "将{change}的合同转给合作方"),
        },
    ),
    Process(
        "loans",
        {"en": "loan book", "cn": "贷款余额"},
        {
            "en": ("Mortgages of {change} are granted", "A portfolio of {change} is taken over from {bank}",
                   "Firms draw {change} of their lines"),
            "cn": ("发放按揭{change}", "从{bank}接收{change}资产包", "企业提用额度{change}"),
        },
        {
            "en": ("Borrowers repay {change}", "Bad debts of {change} are written off",
                   "Receivables of {change} are sold to investors"),
            "cn": ("借款人偿还{change}", "核销坏账{change}", "向投资者出售债权{change}"),
        },
    ),
    Process(
        "inventory",
        {"en": "inventory", "cn": "存货"},
        {
            "en": ("A ship unloads material for {change}", "Finished goods of {change} come in from the line",
                   "Returned articles of {change} are shelved"),
            "cn": ("一船原料到货{change}", "产线入库成品{change}", "退货上架{change}"),
        },
        {
            "en": ("A chain of shops takes {change}", "Spoilt stock of {change} is scrapped",
                   "A clearance empties shelves of {change}"),
            "cn": ("连锁店提货{change}", "报废变质品{change}", "清仓处理{change}"),
        },
    ),
    Process(
        "provisions",
        {"en": "provisions", "cn": "准备金"},
        {
            "en": ("A recall makes {change} necessary", "A lawsuit is provided for with {change}",
                   "Closing a site calls for {change}"),
            "cn": ("产品召回计提{change}", "为诉讼计提{change}", "关停厂区计提{change}"),
        },
        {
            "en": ("Claimants receive {change}", "A court dismisses a claim, which frees {change}",
                   "Warranty repairs use up {change}"),
            "cn": ("向索赔人支付{change}", "法院驳回索赔，转回{change}", "保修支出耗用{change}"),
        },
    ),
    Process(
        "collateral",
        {"en": "collateral at the clearing house", "cn": "清算所保证金"},
        {
            "en": ("A margin call is met with {change}", "Gilts of {change} are pledged",
                   "A gain on futures credits {change}"),
            "cn": ("追加保证金{change}", "质押国债{change}", "期货盈利入账{change}"),
        },
        {
            "en": ("A loss on futures debits {change}", "Unneeded cover of {change} is called back",
                   "Fees and penalties eat {change}"),
            "cn": ("期货亏损扣款{change}", "收回多余保证金{change}", "费用与罚金扣除{change}"),
        },
    ),
)  # fmt: skip

TAILS: dict[Language, tuple[str, ...]] = {
    "en": (
        "{action}; the {amount} then: {after}.",
        "{action}, with the {amount} at {after} as the result.",
        "{action}. That makes the {amount} {after}.",
        "{action}, and the {amount} comes to {after}.",
    ),
    "cn": ("{action}，{amount}变为{after}。", "{action}，此后{amount}为{after}。", "{action}，{amount}达到{after}。"),
}
SITUATIONS: dict[Language, str] = {
    "en": "The events changed the {amount} of {company}, one after the other and nothing else in between; at the "
    "beginning it was {start}.",
    "cn": "以下事件依次改变了{company}的{amount}，其间没有其他变动；期初为{start}。",
}
